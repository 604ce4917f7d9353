// What ccl-tests needs to know of a library: a Backend that connects, a Communicator that operates,
// and two symbols. Everything that is not overridden is reported as unsupported.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "mailboxes.hpp"
#include "src/core/backend.hpp"

namespace {

using ccl_tests::Call;
using ccl_tests::ReduceOp;

// target[i] = target[i] op value[i]. Integers wrap around; floating-point types are computed in
// double and rounded once.
template <class T>
void combine(ReduceOp op, T* target, const T* value, std::size_t count) {
  const auto apply = [op](auto a, auto b) {
    switch (op) {
      case ReduceOp::sum: return static_cast<decltype(a)>(a + b);
      case ReduceOp::prod: return static_cast<decltype(a)>(a * b);
      case ReduceOp::min: return b < a ? b : a;
      case ReduceOp::max: return a < b ? b : a;
      case ReduceOp::avg:
      case ReduceOp::mulsum:
      case ReduceOp::band:
      case ReduceOp::bor:
      case ReduceOp::bxor: break;
    }
    throw ccl_tests::Unsupported("this example has sum, prod, min and max only");
  };
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (!ccl_tests::is_float<T>) {
      const bool ordered = op == ReduceOp::min || op == ReduceOp::max;
      target[i] = ordered ? apply(target[i], value[i])
                          : static_cast<T>(apply(static_cast<std::uint64_t>(target[i]),
                                                 static_cast<std::uint64_t>(value[i])));
    } else {
      target[i] = ccl_tests::from_double<T>(
          apply(ccl_tests::to_double<T>(target[i]), ccl_tests::to_double<T>(value[i])));
    }
  }
}

class ShmCommunicator : public ccl_tests::Communicator {
 public:
  ShmCommunicator(const std::string& name, int rank, int ranks, bool create)
      : boxes_(name, rank, ranks, create), rank_(rank), ranks_(ranks) {}

  // The harness's own barrier is made of these: implement them first.
  void send(const Call& call) override {
    post({true, static_cast<std::byte*>(const_cast<void*>(call.send)), bytes(call, call.count),
          call.peer});
  }
  void recv(const Call& call) override {
    post({false, static_cast<std::byte*>(call.recv), bytes(call, call.count), call.peer});
  }
  void begin_group() override { grouped_ = true; }
  void end_group() override {
    grouped_ = false;
    finish();
  }

  void barrier(const Call& call) override {
    std::byte token{};
    std::vector<std::byte> tokens(static_cast<std::size_t>(ranks_));
    Call step = call;
    step.type = ccl_tests::DataType::uint8;
    step.count = 1;
    step.send = &token;
    step.recv = tokens.data();
    all_gather(step);
  }

  void broadcast(const Call& call) override {
    const std::size_t n = bytes(call, call.count);
    const int root = call.root;
    if (rank_ == root && call.send != call.recv) std::memcpy(call.recv, call.send, n);
    for (int r = 0; r < ranks_ && rank_ == root; ++r)
      if (r != root) pending_.push_back({true, static_cast<std::byte*>(call.recv), n, r});
    if (rank_ != root) pending_.push_back({false, static_cast<std::byte*>(call.recv), n, root});
    finish();
  }

  void all_gather(const Call& call) override { gather_all(call, call.recv); }

  void all_reduce(const Call& call) override {
    const std::size_t n = bytes(call, call.count);
    inputs_.resize(n * static_cast<std::size_t>(ranks_));
    gather_all(call, inputs_.data());
    std::memcpy(call.recv, inputs_.data(), n);
    ccl_tests::with_type(call.type, [&]<class T>() {
      for (int r = 1; r < ranks_; ++r)
        combine(call.op, static_cast<T*>(call.recv),
                reinterpret_cast<const T*>(inputs_.data() + static_cast<std::size_t>(r) * n),
                call.count);
    });
  }

  void wait() override {}  // operations return when they are done
  void abort() noexcept override { boxes_.abort(); }
  void set_time_limit(double limit_s) override { limit_s_ = limit_s; }

 private:
  static std::size_t bytes(const Call& call, std::size_t count) {
    return count * ccl_tests::size_of(call.type);
  }

  // Every rank's `count` elements of send, in rank order.
  void gather_all(const Call& call, void* into) {
    const std::size_t n = bytes(call, call.count);
    auto* const out = static_cast<std::byte*>(into);
    auto* const in = static_cast<std::byte*>(const_cast<void*>(call.send));
    std::byte* const own = out + static_cast<std::size_t>(rank_) * n;
    if (own != in) std::memcpy(own, in, n);
    for (int r = 0; r < ranks_; ++r) {
      if (r == rank_) continue;
      pending_.push_back({true, own, n, r});
      pending_.push_back({false, out + static_cast<std::size_t>(r) * n, n, r});
    }
    finish();
  }

  void post(Message message) {
    pending_.push_back(message);
    if (!grouped_) finish();
  }

  // Until all messages are done: limit_s for no progress at all, and 1 s for every MB.
  void finish() {
    std::size_t moved = 0;
    for (const Message& m : pending_) moved += m.bytes;
    const double limit_s = limit_s_ + static_cast<double>(moved) / 1e6;
    const auto start = std::chrono::steady_clock::now();
    while (!boxes_.progress(pending_)) {
      if (boxes_.aborted()) throw ccl_tests::Error("shm: aborted");
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
      if (limit_s_ > 0 && waited.count() > limit_s)
        throw ccl_tests::Timeout("shm: a peer does not answer");
      std::this_thread::yield();
    }
    pending_.clear();
  }

  Mailboxes boxes_;
  int rank_, ranks_;
  bool grouped_ = false;
  double limit_s_ = 60;
  std::vector<Message> pending_;
  std::vector<std::byte> inputs_;
};

class ShmBackend : public ccl_tests::Backend {
 public:
  std::string_view name() const override { return "shm"; }
  std::string version() const override { return "example"; }
  std::string library() const override { return {}; }
  std::size_t descriptors_per_rank(int /*ranks*/) const override { return 1; }
  double scratch_factor(int ranks) const override { return ranks; }  // all_reduce gathers

  // Rank 0 makes the segment; the control plane tells the others its name, and when all have it.
  std::unique_ptr<ccl_tests::Communicator> connect(
      ccl_tests::ControlChannel& channel, const ccl_tests::BackendOptions& options) const override {
    const bool first = channel.rank() == 0;
    std::string name;
    std::unique_ptr<ccl_tests::Communicator> communicator;
    if (first) {
      name =
          "/ccl-shm-" + std::to_string(::getpid()) + "-" + std::to_string(std::random_device()());
      communicator = std::make_unique<ShmCommunicator>(name, 0, channel.ranks(), true);
    }
    name = channel.all_gather(name, options.init_timeout_s)[0];
    if (!first)
      communicator =
          std::make_unique<ShmCommunicator>(name, channel.rank(), channel.ranks(), false);
    channel.all_gather("", options.init_timeout_s);
    if (first) ::shm_unlink(name.c_str());  // it lives on in those who have mapped it
    return communicator;
  }
};

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int ccl_module_abi() { return ccl_tests::module_abi; }
__attribute__((visibility("default"))) const ccl_tests::Backend* ccl_module_backend() {
  static const ShmBackend backend;
  return &backend;
}
}
