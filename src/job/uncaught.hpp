// Exceptions that leave a thread which a library started: a failure of the job, not an abort.
#pragma once

#include <functional>
#include <string>

namespace ccl_tests {

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
