#include <algorithm>

#include "src/core/composed.hpp"
#include "src/core/composed_call.hpp"
#include "src/core/reduction.hpp"

namespace ccl_tests::composed {
namespace {

void require_host_memory(const Communicator& communicator) {
  if (communicator.capabilities().memory != Memory::host)
    throw Unsupported("reductions are composed on host memory only");
}

// This rank's input: multiplied by its scalar for mulsum.
class Input {
 public:
  Input(const Call& call, std::size_t count) : call_(call) {
    if (call.op == ReduceOp::mulsum && mulsum_scalar(call.self.rank) != 1)
      products_.resize(count * size_of(call.type));
    call_.send = premultiplied(call, count, products_.data());
  }
  std::span<const std::byte> block(std::size_t offset, std::size_t count) const {
    return sent(call_, offset, count);
  }

 private:
  std::vector<std::byte> products_;
  Call call_;
};

// Blocks of all ranks, in elements; `result` is for this rank's.
void ring_reduce_scatter(Communicator& communicator, const Call& call, const Input& input,
                         std::span<const std::size_t> counts, std::span<const std::size_t> offsets,
                         std::byte* result) {
  const std::size_t n = index(call.self.ranks);
  const std::size_t me = index(call.self.rank);
  const auto block = [&](std::size_t r) { return input.block(offsets[r], counts[r]); };
  const std::size_t largest = *std::max_element(counts.begin(), counts.end());
  std::vector<std::byte> incoming(largest * size_of(call.type)), partial(incoming.size());
  const Combine combine = combine_function(call.type, call.op);
  // In step s this rank passes on block me - s - 1, and adds its share to block me - s - 2.
  std::span<const std::byte> outgoing = block((me + n - 1) % n);
  for (std::size_t s = 0; s + 1 < n; ++s) {
    const std::size_t next = (me + 2 * n - s - 2) % n;
    const std::span<const std::byte> own = block(next);
    Message messages[] = {Message::to(static_cast<int>((me + 1) % n), outgoing, call.type),
                          Message::from(static_cast<int>((me + n - 1) % n),
                                        {incoming.data(), own.size()}, call.type)};
    transfer(communicator, messages);
    communicator.wait();
    std::byte* const to = s + 2 == n ? result : partial.data();
    combine(to, incoming.data(), own.data(), counts[next]);
    outgoing = {to, own.size()};
  }
  if (n == 1) copy({result, block(0).size()}, block(0));
  divided(call, result, counts[me]);
}

}  // namespace

void reduce(Communicator& communicator, const Call& call) {
  require_host_memory(communicator);
  const int n = call.self.ranks;
  const int me = (call.self.rank - call.root + n) % n;  // the root is 0
  const auto peer = [&](int relative) { return (relative + call.root) % n; };
  const Input input(call, call.count);
  const std::size_t bytes = call.count * size_of(call.type);
  std::vector<std::byte> incoming(bytes), partial(is_root(call) ? 0 : bytes);
  const std::span<std::byte> sum = is_root(call) ? received(call, 0, call.count) : partial;
  copy(sum, input.block(0, call.count));
  const Combine combine = combine_function(call.type, call.op);
  int distance = 1;
  while (distance < n) distance *= 2;
  for (distance /= 2; distance > 0; distance /= 2) {
    std::vector<Message> messages;
    const bool receives = me < distance && me + distance < n;
    if (receives) messages.push_back(Message::from(peer(me + distance), incoming, call.type));
    if (me >= distance && me < 2 * distance)
      messages.push_back(Message::to(peer(me - distance), sum, call.type));
    transfer(communicator, messages);
    communicator.wait();
    if (receives) combine(sum.data(), sum.data(), incoming.data(), call.count);
  }
  if (is_root(call)) divided(call, call.recv, call.count);
}

void reduce_scatterv(Communicator& communicator, const Call& call) {
  require_host_memory(communicator);
  const std::size_t all = call.send_bytes(OperationId::reduce_scatterv).size();
  const Input input(call, all / size_of(call.type));
  ring_reduce_scatter(communicator, call, input, call.send_counts, call.send_offsets,
                      static_cast<std::byte*>(call.recv));
}

void reduce_scatter(Communicator& communicator, const Call& call) {
  const Blocks blocks = equal_blocks(call);
  Call step = call;
  step.send_counts = blocks.counts;
  step.send_offsets = blocks.offsets;
  reduce_scatterv(communicator, step);
}

void all_reduce(Communicator& communicator, const Call& call) {
  require_host_memory(communicator);
  const std::size_t n = index(call.self.ranks);
  Blocks shares;
  for (std::size_t r = 0, at = 0; r < n; ++r) {
    shares.counts.push_back(call.count / n + (r < call.count % n ? 1 : 0));
    shares.offsets.push_back(at);
    at += shares.counts.back();
  }
  const std::size_t me = index(call.self.rank);
  const auto mine = received(call, shares.offsets[me], shares.counts[me]);
  const Input input(call, call.count);
  ring_reduce_scatter(communicator, call, input, shares.counts, shares.offsets, mine.data());
  Call results = call;
  results.send = mine.data();
  results.count = shares.counts[me];
  results.recv_counts = shares.counts;
  results.recv_offsets = shares.offsets;
  all_gatherv(communicator, results);
}

}  // namespace ccl_tests::composed
