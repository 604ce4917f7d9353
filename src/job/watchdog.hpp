// Ends a wait inside a library that has no time limit of its own.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "src/job/activity.hpp"

namespace ccl_tests {

// Watches one rank on a thread of its own, which looks once a second, or ten times within a short
// limit.
class Watchdog {
 public:
  // on_stuck(seconds without a beat) is called at most once, on the watchdog's thread.
  Watchdog(const Activity& activity, std::function<void(double)> on_stuck);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();

  const Activity& activity_;
  std::function<void(double)> on_stuck_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace ccl_tests
