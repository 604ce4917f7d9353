// What the operations do, on the threads of streams.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "src/core/reduction.hpp"
#include "tests/fake_gpu/nccl_communicator.hpp"

namespace fake_gpu {
namespace {

// nccl.h's types are in the suite's order.
static_assert(static_cast<int>(ccl_tests::DataType::half) == ncclFloat16);
static_assert(static_cast<int>(ccl_tests::DataType::float64) == ncclFloat64);
static_assert(static_cast<int>(ccl_tests::DataType::bfloat16) == ncclBfloat16);
static_assert(static_cast<int>(ccl_tests::DataType::f8e5m2) == ncclFloat8e5m2);

ccl_tests::DataType suite_type(int type) { return static_cast<ccl_tests::DataType>(type); }

ccl_tests::ReduceOp suite_op(int op) {
  switch (op) {
    case ncclProd: return ccl_tests::ReduceOp::prod;
    case ncclMax: return ccl_tests::ReduceOp::max;
    case ncclMin: return ccl_tests::ReduceOp::min;
    case ncclAvg: return ccl_tests::ReduceOp::avg;
    default: return ccl_tests::ReduceOp::sum;
  }
}

// data[i] *= the scalar of those bits.
void scale(ccl_tests::DataType type, std::byte* data, std::size_t count, std::uint64_t bits) {
  ccl_tests::with_type(type, [&]<class T>() {
    T factor;
    std::memcpy(&factor, &bits, sizeof factor);
    T* const values = reinterpret_cast<T*>(data);
    for (std::size_t i = 0; i < count; ++i) {
      if constexpr (ccl_tests::is_float<T>) {
        values[i] = ccl_tests::from_double<T>(ccl_tests::to_double(values[i]) *
                                              ccl_tests::to_double(factor));
      } else {
        values[i] = static_cast<T>(static_cast<std::uint64_t>(values[i]) *
                                   static_cast<std::uint64_t>(factor));
      }
    }
  });
}

std::uint64_t scalar_bits(const Request& request) {
  std::uint64_t bits = request.reduction.scalar;
  if (request.reduction.device_scalar != nullptr) {
    std::memcpy(&bits, request.reduction.device_scalar, bytes_of(request.type));
  }
  return bits;
}

std::string described(const Published& operation) {
  std::string text = std::string(name(operation.kind)) + " of " + std::to_string(operation.count) +
                     " " + std::string(ccl_tests::name(suite_type(operation.type)));
  if (operation.op >= 0) text += ", operation " + std::to_string(operation.op);
  if (operation.root >= 0) text += ", root " + std::to_string(operation.root);
  return text;
}

bool reduces(Kind kind) {
  return kind == Kind::all_reduce || kind == Kind::reduce || kind == Kind::reduce_scatter;
}

bool rooted(Kind kind) {
  return kind == Kind::reduce || kind == Kind::broadcast || kind == Kind::gather ||
         kind == Kind::scatter;
}

// Elements that `rank` receives.
std::size_t result_count(const Request& request, int rank, int ranks) {
  const auto all = request.count * static_cast<std::size_t>(ranks);
  switch (request.kind) {
    case Kind::all_gather:
    case Kind::alltoall: return all;
    case Kind::gather: return rank == request.root ? all : 0;
    case Kind::reduce: return rank == request.root ? request.count : 0;
    default: return request.count;
  }
}

}  // namespace

std::size_t bytes_of(ncclDataType_t type) { return ccl_tests::size_of(suite_type(type)); }

namespace {

bool multiplies_first(const Request& request) {
  const bool floating = ccl_tests::with_type(suite_type(request.type),
                                             []<class T>() { return ccl_tests::is_float<T>; });
  return request.reduction.op == ncclNumOps || (request.reduction.op == ncclAvg && floating);
}

// Returns how many elements of a reduction of one rank are written. oneRankReduce of NCCL up to 2.28 gives each of its
// blocks count / blocks elements, rounded down and then up to 16 bytes, so that the last ones may be no block's.
std::size_t written_count(const Request& request, int ranks) {
  int version = 0;
  ncclGetVersion(&version);
  if (ranks > 1 || !multiplies_first(request) || version >= NCCL_VERSION(2, 29, 0))
    return request.count;
  constexpr std::size_t block_bytes = 16 << 10, most_blocks = 32, pack_bytes = 16;
  const std::size_t width = bytes_of(request.type);
  const std::size_t blocks = std::clamp<std::size_t>(
      (request.count * width + block_bytes - 1) / block_bytes, 1, most_blocks);
  const std::size_t pack = pack_bytes / width;
  const std::size_t of_block = (request.count / blocks + pack - 1) / pack * pack;
  return std::min(request.count, blocks * of_block);
}

}  // namespace

void Communicator::run(const Request& request) {
  ++running_;
  const auto leave = std::shared_ptr<void>(nullptr, [this](void*) { --running_; });
  const std::lock_guard turn(turn_);
  if (!begin(1)) return;
  const auto members = segment_->members();
  Member& self = members[static_cast<std::size_t>(rank_)];
  self.operation = {request.kind,
                    request.type,
                    reduces(request.kind) ? request.reduction.op : -1,
                    rooted(request.kind) ? request.root : -1,
                    request.count,
                    request.send,
                    scalar_bits(request)};
  const std::uint64_t step = ++self.published;
  const auto all = [&](auto counter) {
    return [=] {
      return std::all_of(members.begin(), members.end(),
                         [&](const Member& m) { return m.*counter >= step; });
    };
  };
  if (!wait_until(all(&Member::published))) return;
  if (const auto difference = disagreement(step); !difference.empty()) {
    fail_all(ncclInvalidUsage, difference);
    return hang();
  }
  const std::size_t bytes = result_count(request, rank_, ranks_) * bytes_of(request.type);
  const auto result = std::make_unique_for_overwrite<std::byte[]>(bytes);
  if (bytes > 0 && !compute(request, result.get())) {
    fail(ncclRemoteError, "the memory of a peer is gone");
    return hang();
  }
  self.finished = step;
  // In place: nobody reads what is overwritten now.
  if (!wait_until(all(&Member::finished)) || bytes == 0) return;
  corrupt(operations_, result.get(), bytes);
  const bool whole = !reduces(request.kind);
  std::memcpy(request.recv, result.get(),
              whole ? bytes : written_count(request, ranks_) * bytes_of(request.type));
}

std::string Communicator::disagreement(std::uint64_t step) const {
  const auto members = segment_->members();
  const Published& first = members[0].operation;
  for (std::size_t r = 1; r < members.size(); ++r) {
    const Published& other = members[r].operation;
    if (other.kind != first.kind || other.type != first.type || other.op != first.op ||
        other.root != first.root || other.count != first.count) {
      return "collective operation " + std::to_string(step) + ": rank 0 calls " + described(first) +
             ", rank " + std::to_string(r) + " " + described(other);
    }
  }
  return {};
}

bool Communicator::read(int from, std::size_t offset, void* to, std::size_t bytes) {
  const Member& member = segment_->members()[static_cast<std::size_t>(from)];
  const auto* const source = static_cast<const std::byte*>(member.operation.send) + offset;
  if (from != rank_) return read_memory(member.process, to, source, bytes);
  std::memcpy(to, source, bytes);
  return true;
}

bool Communicator::compute(const Request& request, std::byte* result) {
  const std::size_t block = request.count * bytes_of(request.type);
  const auto self = static_cast<std::size_t>(rank_);
  // One block of each rank, which lies `offset` into its send buffer.
  const auto each = [&](std::size_t offset) {
    for (int from = 0; from < ranks_; ++from) {
      if (!read(from, offset, result + static_cast<std::size_t>(from) * block, block)) return false;
    }
    return true;
  };
  switch (request.kind) {
    case Kind::all_reduce:
    case Kind::reduce: return reduce(request, 0, result);
    case Kind::reduce_scatter: return reduce(request, self * block, result);
    case Kind::broadcast: return read(request.root, 0, result, block);
    case Kind::scatter: return read(request.root, self * block, result, block);
    case Kind::all_gather:
    case Kind::gather: return each(0);
    case Kind::alltoall: return each(self * block);
    case Kind::send:
    case Kind::recv: break;
  }
  return false;
}

bool Communicator::reduce(const Request& request, std::size_t first, std::byte* result) {
  constexpr std::size_t most = 1 << 16;  // elements at a time
  const auto type = suite_type(request.type);
  const std::size_t width = bytes_of(request.type);
  const auto combine = ccl_tests::combine_function(type, suite_op(request.reduction.op));
  const auto term = std::make_unique_for_overwrite<std::byte[]>(most * width);
  for (std::size_t at = 0; at < request.count; at += most) {
    const std::size_t count = std::min(most, request.count - at);
    std::byte* const sum = result + at * width;
    for (int from = 0; from < ranks_; ++from) {
      std::byte* const into = from == 0 ? sum : term.get();
      if (!read(from, first + at * width, into, count * width)) return false;
      if (request.reduction.op == ncclNumOps) {
        scale(type, into, count,
              segment_->members()[static_cast<std::size_t>(from)].operation.scalar);
      }
      if (from > 0) combine(sum, sum, into, count);
    }
  }
  if (request.reduction.op == ncclAvg) ccl_tests::divide(type, result, request.count, ranks_);
  return true;
}

}  // namespace fake_gpu
