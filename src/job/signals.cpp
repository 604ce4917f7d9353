#include "src/job/signals.hpp"

#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include "src/bootstrap/deadline.hpp"
#include "src/core/signals.hpp"
#include "src/core/thread.hpp"

namespace ccl_tests {

struct SignalWatch::State {
  SignalPipe signals;
  std::thread thread;

  void watch(const std::function<void(int)>& on_signal) const {
    signals.unblock();
    constexpr double same_wish_s = 0.5;
    std::optional<TimePoint> again_from;
    while (const int signal = signals.wait()) {
      if (!again_from) {
        again_from = deadline_in(same_wish_s);
        on_signal(signal);
      } else if (is_urgent_again(signal) && std::chrono::steady_clock::now() >= *again_from) {
        std::_Exit(128 + signal);
      }
    }
  }
};

SignalWatch::SignalWatch(std::function<void(int)> on_signal) : state_(std::make_unique<State>()) {
  state_->signals.block();
  state_->thread =
      start_thread([s = state_.get(), call = std::move(on_signal)] { s->watch(call); });
}

SignalWatch::~SignalWatch() {
  state_->signals.wake();
  state_->thread.join();
}

void SignalWatch::take_back() const { state_->signals.take_back(); }

}  // namespace ccl_tests
