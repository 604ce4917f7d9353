// SIGINT, SIGTERM and SIGHUP as a call on a thread of their own, where anything may be done.
#pragma once

#include <functional>
#include <memory>

namespace ccl_tests {

// While it lives, these signals (SIGHUP where it is not ignored) are blocked in this thread and
// those it starts, and `on_signal` is called with the number of the first that arrives. A later
// SIGINT or SIGTERM ends the process at once with 128 + its number; a later SIGHUP does nothing.
class SignalWatch {
 public:
  explicit SignalWatch(std::function<void(int)> on_signal);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ccl_tests
