#include "src/backends/loopback.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "src/core/communicator.hpp"
#include "src/core/composed.hpp"
#include "src/core/error.hpp"
namespace ccl_tests::textbook {
namespace {

template <class T>
T load(const std::string& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <class T>
T combine(ReduceOp op, T a, T b) {
  if constexpr (is_float<T>) {
    const double x = to_double<T>(a);
    const double y = to_double<T>(b);
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::avg:
      case ReduceOp::mulsum: return from_double<T>(x + y);
      case ReduceOp::prod: return from_double<T>(x * y);
      case ReduceOp::min: return x < y ? a : b;
      case ReduceOp::max: return x > y ? a : b;
      case ReduceOp::band:
      case ReduceOp::bor:
      case ReduceOp::bxor: break;
    }
  } else {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::avg:
      case ReduceOp::mulsum: return static_cast<T>(x + y);
      case ReduceOp::prod: return static_cast<T>(x * y);
      case ReduceOp::min: return std::min(a, b);
      case ReduceOp::max: return std::max(a, b);
      case ReduceOp::band: return static_cast<T>(x & y);
      case ReduceOp::bor: return static_cast<T>(x | y);
      case ReduceOp::bxor: return static_cast<T>(x ^ y);
    }
  }
  throw Unsupported("bitwise operations are defined on integers only");
}

// x * factor before a mulsum, x / factor after an avg.
template <class T>
T scale(T value, int factor, bool divide) {
  if constexpr (is_float<T>) {
    const double x = to_double<T>(value);
    return from_double<T>(divide ? x / factor : x * factor);
  } else if (divide) {
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(static_cast<std::int64_t>(value) / factor);
    return static_cast<T>(static_cast<std::uint64_t>(value) / static_cast<std::uint64_t>(factor));
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(value) * static_cast<std::uint64_t>(factor));
  }
}

template <class T>
void reduce_as(std::byte* out, std::span<const std::string> inputs, std::size_t first,
               std::size_t count, ReduceOp op) {
  for (std::size_t k = 0; k < count; ++k) {
    T result{};
    for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
      T value = load<T>(inputs[rank], first + k);
      if (op == ReduceOp::mulsum)
        value = scale(value, mulsum_scalar(static_cast<int>(rank)), false);
      result = rank == 0 ? value : combine(op, result, value);
    }
    if (op == ReduceOp::avg) result = scale(result, static_cast<int>(inputs.size()), true);
    std::memcpy(out + k * sizeof(T), &result, sizeof(T));
  }
}

}  // namespace

void reduce(std::byte* out, std::span<const std::string> inputs, std::size_t first,
            std::size_t count, DataType type, ReduceOp op) {
  with_type(type, [&]<class T>() { reduce_as<T>(out, inputs, first, count, op); });
}

}  // namespace ccl_tests::textbook

namespace ccl_tests {
namespace {

// A rank's part of one transfer: for each message its receiver and its bytes, in the order of
// posting.
struct Letter {
  int to;
  std::string bytes;
};

std::string pack(std::span<const Message> messages) {
  std::string out;
  for (const Message& m : messages) {
    if (!m.sends()) continue;
    const std::uint64_t header[2] = {static_cast<std::uint64_t>(m.peer), m.bytes.size()};
    out.append(reinterpret_cast<const char*>(header), sizeof header);
    out.append(reinterpret_cast<const char*>(m.bytes.data()), m.bytes.size());
  }
  return out;
}

std::vector<Letter> unpack(const std::string& packed) {
  std::vector<Letter> letters;
  for (std::size_t at = 0; at < packed.size();) {
    std::uint64_t header[2];
    std::memcpy(header, packed.data() + at, sizeof header);
    at += sizeof header;
    letters.push_back({static_cast<int>(header[0]), packed.substr(at, header[1])});
    at += header[1];
  }
  return letters;
}

class Loopback : public Communicator {
 public:
  explicit Loopback(ControlChannel& channel) : channel_(channel) {}

  void all_reduce(const Call& call) override {
    check_in_place(call, call.count, call.count, 0);
    const auto inputs = all_gather(call, call.count);
    textbook::reduce(out(call), inputs, 0, call.count, call.type, call.op);
  }

  void reduce(const Call& call) override {
    check_in_place(call, call.count, call.count, 0);
    const auto inputs = all_gather(call, call.count);
    if (!is_root(call)) return;
    textbook::reduce(out(call), inputs, 0, call.count, call.type, call.op);
  }

  void broadcast(const Call& call) override {
    check_in_place(call, is_root(call) ? call.count : 0, call.count, 0);
    const auto inputs = all_gather(call, is_root(call) ? call.count : 0);
    put(call, 0, inputs[root(call)], 0, call.count);
  }

  void all_gather(const Call& call) override {
    check_in_place(call, call.count, call.count * ranks(), offset_of_mine(call));
    const auto inputs = all_gather(call, call.count);
    for (std::size_t r = 0; r < inputs.size(); ++r)
      put(call, r * call.count, inputs[r], 0, call.count);
  }

  void gather(const Call& call) override {
    check_in_place(call, call.count, is_root(call) ? call.count * ranks() : 0,
                   offset_of_mine(call));
    const auto inputs = all_gather(call, call.count);
    for (std::size_t r = 0; is_root(call) && r < inputs.size(); ++r) {
      put(call, r * call.count, inputs[r], 0, call.count);
    }
  }

  void scatter(const Call& call) override {
    check_in_place(call, is_root(call) ? call.count * ranks() : 0, call.count,
                   -offset_of_mine(call));
    const auto inputs = all_gather(call, is_root(call) ? call.count * ranks() : 0);
    put(call, 0, inputs[root(call)], rank() * call.count, call.count);
  }

  void reduce_scatter(const Call& call) override {
    check_in_place(call, call.count * ranks(), call.count, -offset_of_mine(call));
    const auto inputs = all_gather(call, call.count * ranks());
    textbook::reduce(out(call), inputs, rank() * call.count, call.count, call.type, call.op);
  }

  void all_gatherv(const Call& call) override {
    const std::ptrdiff_t mine = own_offset(call, call.recv_offsets);
    check_in_place(call, call.count, sum(call.recv_counts), mine);
    const auto inputs = all_gather(call, call.count);
    for (std::size_t r = 0; r < inputs.size(); ++r)
      put(call, call.recv_offsets[r], inputs[r], 0, call.recv_counts[r]);
  }

  void gatherv(const Call& call) override {
    if (is_root(call)) {
      check_in_place(call, call.count, sum(call.recv_counts), own_offset(call, call.recv_offsets));
    }
    const auto inputs = all_gather(call, call.count);
    for (std::size_t r = 0; is_root(call) && r < inputs.size(); ++r)
      put(call, call.recv_offsets[r], inputs[r], 0, call.recv_counts[r]);
  }

  void scatterv(const Call& call) override {
    if (is_root(call)) {
      check_in_place(call, sum(call.send_counts), call.count, -own_offset(call, call.send_offsets));
    }
    composed::scatterv(*this, call);
  }

  void reduce_scatterv(const Call& call) override {
    const std::size_t all = sum(call.send_counts);
    check_in_place(call, all, call.count, -own_offset(call, call.send_offsets));
    const auto inputs = all_gather(call, all);
    textbook::reduce(out(call), inputs, call.send_offsets[rank()], call.count, call.type, call.op);
  }

  void alltoall(const Call& call) override {
    check_in_place(call, call.count * ranks(), call.count * ranks(), 0);
    const auto inputs = all_gather(call, call.count * ranks());
    for (std::size_t r = 0; r < inputs.size(); ++r) {
      put(call, r * call.count, inputs[r], rank() * call.count, call.count);
    }
  }

  void alltoallv(const Call& call) override { composed::alltoallv(*this, call); }

  void barrier(const Call& /*call*/) override { channel_.all_gather("", limit_s_); }

  // Everybody's messages to everybody travel in one exchange, so transfers are collective here.
  void transfer(std::span<Message> messages, Deadline& /*deadline*/) override {
    std::vector<std::vector<Letter>> from;
    for (const std::string& packed : channel_.all_gather(pack(messages), limit_s_))
      from.push_back(unpack(packed));
    std::vector<std::size_t> next(from.size(), 0);
    for (const Message& message : messages) {
      if (message.sends()) continue;
      const auto peer = static_cast<std::size_t>(message.peer);
      const auto& letters = from[peer];
      std::size_t& i = next[peer];
      while (i < letters.size() && letters[i].to != channel_.rank()) ++i;
      if (i == letters.size()) throw Error("loopback: a receive without a matching send");
      const std::string& bytes = letters[i++].bytes;
      if (message.bytes.size() > bytes.size()) throw Error("loopback: ranks disagree on a count");
      if (!message.bytes.empty())
        std::memcpy(message.bytes.data(), bytes.data(), message.bytes.size());
    }
  }

  void set_time_limit(double limit_s) override { limit_s_ = limit_s > 0 ? limit_s : 1e6; }
  const Capabilities& capabilities() const override { return capabilities_; }

 private:
  std::size_t rank() const { return static_cast<std::size_t>(channel_.rank()); }
  std::size_t ranks() const { return static_cast<std::size_t>(channel_.ranks()); }
  bool is_root(const Call& call) const { return call.root == channel_.rank(); }
  static std::size_t root(const Call& call) { return static_cast<std::size_t>(call.root); }
  static std::byte* out(const Call& call) { return static_cast<std::byte*>(call.recv); }

  static std::string bytes_of(const Call& call, std::size_t count) {
    if (count == 0) return {};
    return {static_cast<const char*>(call.send), count * size_of(call.type)};
  }

  static std::size_t sum(std::span<const std::size_t> counts) {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  }

  // Where this rank's block of a vector collective begins, bytes.
  std::ptrdiff_t own_offset(const Call& call, std::span<const std::size_t> offsets) const {
    return static_cast<std::ptrdiff_t>(offsets[rank()] * size_of(call.type));
  }

  // This rank's block in a buffer of all ranks' blocks, bytes.
  std::ptrdiff_t offset_of_mine(const Call& call) const {
    return static_cast<std::ptrdiff_t>(rank() * call.count * size_of(call.type));
  }

  // Buffers that overlap have to lie where the operation's in-place form has them: send = recv +
  // `offset` bytes. Libraries rely on it; this one would not need to.
  static void check_in_place(const Call& call, std::size_t send_count, std::size_t recv_count,
                             std::ptrdiff_t offset) {
    if (send_count == 0 || recv_count == 0) return;
    const std::size_t width = size_of(call.type);
    const auto* const send_begin = static_cast<const std::byte*>(call.send);
    const std::byte* const recv_begin = out(call);
    const std::less<> before;  // of pointers into different buffers
    if (!before(send_begin, recv_begin + recv_count * width) ||
        !before(recv_begin, send_begin + send_count * width)) {
      return;
    }
    if (send_begin != recv_begin + offset) {
      throw Error("loopback: the buffers overlap elsewhere than in place");
    }
  }

  std::vector<std::string> all_gather(const Call& call, std::size_t count) {
    return channel_.all_gather(bytes_of(call, count), limit_s_);
  }

  // recv[to, to + count) = bytes[from, from + count), in elements.
  static void put(const Call& call, std::size_t to, const std::string& bytes, std::size_t from,
                  std::size_t count) {
    const std::size_t width = size_of(call.type);
    if ((from + count) * width > bytes.size()) throw Error("loopback: ranks disagree on a count");
    if (count > 0) std::memcpy(out(call) + to * width, bytes.data() + from * width, count * width);
  }

  ControlChannel& channel_;
  double limit_s_ = 1e6;
  Capabilities capabilities_{
      .description = {"loopback is the suite's test double; its times say nothing about a library"},
      .operations = OperationSet::all()};
};

}  // namespace

std::unique_ptr<Communicator> LoopbackBackend::connect(ControlChannel& channel,
                                                       const BackendOptions& /*options*/) const {
  return std::make_unique<Loopback>(channel);
}

}  // namespace ccl_tests
