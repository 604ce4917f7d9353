// The signals that end a run as a call on a thread of their own, where anything may be done.
#pragma once

#include <functional>
#include <memory>

namespace ccl_tests {

// While it lives, `on_signal` is called with the number of the first of ending_signals() that arrives, whichever thread it
// arrives at. Half a second later another SIGINT, SIGTERM or SIGQUIT ends the process at once with 128 + its
// number: timeout(1) sends a signal to its child and then to the group.
class SignalWatch {
 public:
  // Throws Unsupported if no thread can be started, std::system_error if no pipe can be made.
  explicit SignalWatch(std::function<void(int)> on_signal);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  // See SignalPipe: called after a library has started.
  void take_back() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ccl_tests
