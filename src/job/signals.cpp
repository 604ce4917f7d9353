#include "src/job/signals.hpp"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <utility>

#include "src/core/signals.hpp"

namespace ccl_tests {

struct SignalWatch::State {
  sigset_t watched{};
  sigset_t before{};
  std::atomic<bool> stop = false;
  std::thread thread;

  void watch(const std::function<void(int)>& on_signal) {
    bool seen = false;
    for (;;) {
      int signal = 0;
      if (sigwait(&watched, &signal) != 0) continue;
      if (stop) return;
      if (seen && signal == SIGHUP) continue;  // a terminal that goes away may send two
      if (std::exchange(seen, true)) std::_Exit(128 + signal);
      on_signal(signal);
    }
  }
};

SignalWatch::SignalWatch(std::function<void(int)> on_signal) : state_(std::make_unique<State>()) {
  sigemptyset(&state_->watched);
  sigaddset(&state_->watched, SIGINT);
  sigaddset(&state_->watched, SIGTERM);
  // The terminal, or the connection to it, is gone; nohup has it ignored.
  if (!is_ignored(SIGHUP)) sigaddset(&state_->watched, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &state_->watched, &state_->before);
  state_->thread = std::thread([s = state_.get(), call = std::move(on_signal)] { s->watch(call); });
}

SignalWatch::~SignalWatch() {
  state_->stop = true;
  pthread_kill(state_->thread.native_handle(), SIGINT);  // only for that thread
  state_->thread.join();
  pthread_sigmask(SIG_SETMASK, &state_->before, nullptr);
}

}  // namespace ccl_tests
