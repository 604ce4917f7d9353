// The signals that end a run, as a call on a thread of their own, where anything may be done; and exceptions that leave
// a thread which a library started: a failure of the job, not an abort.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "src/core/signals.hpp"

namespace ccl_tests {

// While it lives, `on_signal` is called with the number of the first of ending_signals() that arrives, whichever thread it
// arrives at. Half a second later another SIGINT, SIGTERM or SIGQUIT ends the process at once with 128 + its
// number: timeout(1) sends a signal to its child and then to the group.
class SignalWatch {
 public:
  // Throws Unsupported if no thread can be started, std::system_error if no pipe can be made.
  explicit SignalWatch(std::function<void(int)> on_signal);
  ~SignalWatch();

  // See SignalPipe: called after a library has started.
  void take_back() const { signals_.take_back(); }

 private:
  void watch() const;

  std::function<void(int)> on_signal_;
  SignalPipe signals_;
  std::thread thread_;
};

// While it lives (one at a time; made on the main thread), `on_uncaught` is called on the thread
// that ends so, once. That thread is then kept for as long as the job needs to end in order, at
// most a minute, after which the process ends with Exit::failed; at once when it is the main
// thread.
class UncaughtWatch {
 public:
  explicit UncaughtWatch(std::function<void(const std::string& what)> on_uncaught);
  ~UncaughtWatch();  // waits for a call that has begun
  UncaughtWatch(const UncaughtWatch&) = delete;
  UncaughtWatch& operator=(const UncaughtWatch&) = delete;

  // True: a library lacks a thread, and may wait for it for ever where it is closed.
  bool happened() const;
};

}  // namespace ccl_tests
