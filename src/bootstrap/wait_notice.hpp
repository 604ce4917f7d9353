// A word about a wait that takes long.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "src/core/thread.hpp"

namespace ccl_tests {

// Says what this process waits for 3 s after its construction, and every 30 s from then on.
class WaitNotice {
 public:
  // Calls `log` with "waits for ..." on a thread of its own. Says nothing before set(). Throws Unsupported
  // if the system refuses a thread.
  explicit WaitNotice(std::function<void(std::string_view)> log, double first_s = 3,
                      double again_s = 30)
      : log_(std::move(log)),
        thread_(start_thread<std::jthread>([=, this](const std::stop_token& stop) {
          for (double pause_s = first_s; wait_unless_stopped(stop, pause_s); pause_s = again_s)
            say();
        })) {}

  // Says what is waited for from now on; nothing is said of an empty text. `what` is asked on the
  // thread of this object each time.
  void set(std::function<std::string()> what) {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
  }
  void set(std::string what) {
    set([what = std::move(what)] { return what; });
  }

 private:
  void say() {
    std::unique_lock lock(mutex_);
    const std::function<std::string()> what = what_;
    lock.unlock();
    if (const std::string text = what ? what() : std::string(); !text.empty())
      log_("waits for " + text);
  }

  std::function<void(std::string_view)> log_;
  std::mutex mutex_;
  std::function<std::string()> what_;
  std::jthread thread_;  // last: ends before the others do
};

}  // namespace ccl_tests
