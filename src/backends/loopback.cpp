#include "src/backends/loopback.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "src/core/communicator.hpp"
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
  using enum ReduceOp;
  if constexpr (is_float<T>) {
    const double x = to_double<T>(a), y = to_double<T>(b);
    if (op == sum || op == avg || op == mulsum) return from_double<T>(x + y);
    if (op == prod) return from_double<T>(x * y);
    if (op == min) return x < y ? a : b;
    if (op == max) return x > y ? a : b;
  } else {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    switch (op) {
      case sum:
      case avg:
      case mulsum: return static_cast<T>(x + y);
      case prod: return static_cast<T>(x * y);
      case min: return std::min(a, b);
      case max: return std::max(a, b);
      case band: return static_cast<T>(x & y);
      case bor: return static_cast<T>(x | y);
      case bxor: return static_cast<T>(x ^ y);
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

// Returns a rank's part of one transfer: of each message its receiver, its length and its bytes, in
// the order of posting.
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

// Returns the first message to `rank` from `at` on, and moves `at` behind it.
std::string_view next_message(const std::string& packed, std::size_t& at, int rank) {
  while (at < packed.size()) {
    std::uint64_t header[2];
    std::memcpy(header, packed.data() + at, sizeof header);
    const std::string_view bytes(packed.data() + at + sizeof header, header[1]);
    at += sizeof header + bytes.size();
    if (static_cast<int>(header[0]) == rank) return bytes;
  }
  throw Error("loopback: a receive without a matching send");
}

class Loopback : public Communicator {
 public:
  explicit Loopback(ControlChannel& channel) : channel_(channel) {}

  void all_reduce(const Call& call) override { reduce_to(call, true); }
  void reduce(const Call& call) override { reduce_to(call, is_root(call)); }

  void broadcast(const Call& call) override {
    check_in_place(call, is_root(call) ? call.count : 0, call.count, 0);
    const auto inputs = all_gather(call, is_root(call) ? call.count : 0);
    put(call, 0, inputs[root(call)], 0, call.count);
  }

  void all_gather(const Call& call) override { gather_to(call, true); }
  void gather(const Call& call) override { gather_to(call, is_root(call)); }
  void all_gatherv(const Call& call) override { gather_to(call, true); }
  void gatherv(const Call& call) override { gather_to(call, is_root(call)); }

  void scatter(const Call& call) override {
    const std::size_t all = is_root(call) ? call.count * ranks() : 0;
    check_in_place(call, all, call.count, -bytes(call, rank() * call.count));
    const auto inputs = all_gather(call, all);
    put(call, 0, inputs[root(call)], rank() * call.count, call.count);
  }

  void scatterv(const Call& call) override {
    if (is_root(call))
      check_in_place(call, sum_of(call.send_counts), call.count,
                     -bytes(call, call.send_offsets[rank()]));
    Communicator::scatterv(call);
  }

  void reduce_scatter(const Call& call) override {
    reduce_block(call, call.count * ranks(), rank() * call.count);
  }
  void reduce_scatterv(const Call& call) override {
    reduce_block(call, sum_of(call.send_counts), call.send_offsets[rank()]);
  }

  void alltoall(const Call& call) override {
    check_in_place(call, call.count * ranks(), call.count * ranks(), 0);
    const auto inputs = all_gather(call, call.count * ranks());
    for (std::size_t r = 0; r < inputs.size(); ++r)
      put(call, r * call.count, inputs[r], rank() * call.count, call.count);
  }

  void barrier(const Call& /*call*/) override { channel_.all_gather("", limit_s_); }

  // Everybody's messages to everybody travel in one exchange, so transfers are collective here.
  void transfer(std::span<Message> messages, Deadline& /*deadline*/) override {
    const std::vector<std::string> from = channel_.all_gather(pack(messages), limit_s_);
    std::vector<std::size_t> next(from.size(), 0);
    for (const Message& message : messages) {
      if (message.sends()) continue;
      const auto peer = static_cast<std::size_t>(message.peer);
      const std::string_view bytes = next_message(from[peer], next[peer], channel_.rank());
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

  static std::ptrdiff_t bytes(const Call& call, std::size_t elements) {
    return static_cast<std::ptrdiff_t>(elements * size_of(call.type));
  }

  void reduce_to(const Call& call, bool receives) {
    check_in_place(call, call.count, call.count, 0);
    const auto inputs = all_gather(call, call.count);
    if (receives) textbook::reduce(out(call), inputs, 0, call.count, call.type, call.op);
  }

  // Reduces the ranks' `all` elements, and keeps this rank's block of them.
  void reduce_block(const Call& call, std::size_t all, std::size_t first) {
    check_in_place(call, all, call.count, -bytes(call, first));
    const auto inputs = all_gather(call, all);
    textbook::reduce(out(call), inputs, first, call.count, call.type, call.op);
  }

  // Receives all ranks' blocks, of equal length or as the call says.
  void gather_to(const Call& call, bool receives) {
    const bool equal = call.recv_offsets.empty();
    const auto offset = [&](std::size_t r) {
      return equal ? r * call.count : call.recv_offsets[r];
    };
    if (receives)
      check_in_place(call, call.count, equal ? call.count * ranks() : sum_of(call.recv_counts),
                     bytes(call, offset(rank())));
    const auto inputs = all_gather(call, call.count);
    for (std::size_t r = 0; receives && r < inputs.size(); ++r)
      put(call, offset(r), inputs[r], 0, equal ? call.count : call.recv_counts[r]);
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
        !before(recv_begin, send_begin + send_count * width))
      return;
    if (send_begin != recv_begin + offset)
      throw Error("loopback: the buffers overlap elsewhere than in place");
  }

  std::vector<std::string> all_gather(const Call& call, std::size_t count) {
    const auto* const send = static_cast<const char*>(call.send);
    return channel_.all_gather(count == 0 ? "" : std::string_view(send, count * size_of(call.type)),
                               limit_s_);
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
      .operations = OperationSet::all(),
      .combined_by_suite = {{}}};
};

}  // namespace

std::unique_ptr<Communicator> LoopbackBackend::connect(ControlChannel& channel,
                                                       const BackendOptions& /*options*/) const {
  return std::make_unique<Loopback>(channel);
}

}  // namespace ccl_tests
