#include "src/job/watched.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "src/core/communicator.hpp"
#include "src/core/forwarding_communicator.hpp"

namespace ccl_tests {
namespace {

// Returns what all ranks of a call say alike: blocks of vector operations differ.
std::string call_text(OperationId operation, const Call& call) {
  std::string text(name(operation));
  if (operation == OperationId::barrier) return text;
  text += fmt::format(" {}", name(call.type));
  if (reducing_operations.has(operation)) text += fmt::format(" {}", name(call.op));
  if (call.recv_counts.empty() && call.send_counts.empty())
    text += fmt::format(", {} B", call.count * size_of(call.type));
  if (received_by_root.has(operation) || sent_by_root.has(operation))
    text += fmt::format(", root {}", call.root);
  return text;
}

class WatchedCommunicator : public ForwardingCommunicator {
 public:
  WatchedCommunicator(std::unique_ptr<Communicator> library, Activity& activity,
                      std::string between)
      : ForwardingCommunicator(*library),
        library_(std::move(library)),
        activity_(activity),
        between_(std::move(between)) {}

  void transfer(std::span<Message> messages, Deadline& deadline) override {
    begin("messages", bytes_of(messages));
    inside([&] { below().transfer(messages, deadline); });
  }
  void wait() override {
    inside([&] { below().wait(); });
    bytes_ = 0;
  }
  void fence() override {
    inside([&] { below().fence(); });
  }
  std::unique_ptr<Communicator> split(int color, int key) override {
    auto part = below().split(color, key);
    if (!part) return nullptr;
    return std::make_unique<WatchedCommunicator>(std::move(part), activity_, between_);
  }
  void set_time_limit(double limit_s) override {
    ForwardingCommunicator::set_time_limit(limit_s);
    limit_s_ = limit_s;
  }

 protected:
  void perform(OperationId operation, const Call& call) override {
    begin(operation, call);
    inside([&] { ForwardingCommunicator::perform(operation, call); });
  }
  std::unique_ptr<Work> start(OperationId operation, const Call& call) override {
    const std::size_t before = bytes_;
    begin(operation, call);
    std::unique_ptr<Work> work;
    inside([&] { work = ForwardingCommunicator::start(operation, call); });
    return std::make_unique<WatchedWork>(*this, std::move(work), now_, bytes_ - before);
  }

 private:
  class WatchedWork : public Work {
   public:
    WatchedWork(WatchedCommunicator& of, std::unique_ptr<Work> work, std::string what,
                std::size_t bytes)
        : of_(of), work_(std::move(work)), what_(std::move(what)), bytes_(bytes) {}
    void wait() override {
      of_.now_ = what_;
      of_.inside([&] { work_->wait(); });
      of_.bytes_ -= std::min(of_.bytes_, std::exchange(bytes_, 0));
    }

   private:
    WatchedCommunicator& of_;
    std::unique_ptr<Work> work_;
    std::string what_;
    std::size_t bytes_;  // that its first wait() ends
  };

  void begin(OperationId operation, const Call& call) {
    ranks_ = call.self.ranks;
    begin(call_text(operation, call),
          call.send_bytes(operation).size() + call.recv_bytes(operation).size());
  }
  void begin(const std::string& what, std::size_t bytes) {
    bytes_ += bytes;
    now_ = fmt::format("call {}, {}", ++calls_, what);
  }

  template <class F>
  void inside(F make) {
    if (calls_ == 0) return make();
    constexpr double later_s = 5;  // than a limit that the library has itself
    const double bytes_s = static_cast<double>(bytes_) * ranks_ / 1e6;
    const Expected expected(activity_, limit_s_ > 0 ? limit_s_ + bytes_s + later_s : 0);
    activity_.row(now_);
    inside_library(activity_, make);
    activity_.phase(fmt::format("{}, after call {}", between_, calls_));
  }

  std::unique_ptr<Communicator> library_;
  Activity& activity_;
  std::string between_, now_;  // now_: the call that is waited for
  std::uint64_t calls_ = 0;
  std::size_t bytes_ = 0;  // of operations that no wait() has ended
  int ranks_ = 1;
  double limit_s_ = 60;
};

class WatchedBackend : public Backend {
 public:
  WatchedBackend(const Backend& library, Activity& activity, std::string between)
      : library_(library), activity_(activity), between_(std::move(between)) {}
  BackendInfo info() const override { return library_.info(); }
  void check(const BackendOptions& options) const override { library_.check(options); }
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    return std::make_unique<WatchedCommunicator>(library_.connect(channel, options), activity_,
                                                 between_);
  }

 private:
  const Backend& library_;
  Activity& activity_;
  std::string between_;
};

}  // namespace

std::unique_ptr<Backend> watch_calls(const Backend& library, Activity& activity,
                                     std::string between) {
  return std::make_unique<WatchedBackend>(library, activity, std::move(between));
}

}  // namespace ccl_tests
