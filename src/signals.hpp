// SIGINT and SIGTERM as a call on a thread of their own, where anything may be done.
#pragma once

#include <functional>
#include <memory>

namespace ccl {

// While it lives, the two signals are blocked in this thread and those it starts, and `on_signal`
// is called with the number of each that arrives. A second signal ends the process at once with 128
// + its number.
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

}  // namespace ccl
