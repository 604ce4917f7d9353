// The time that a rank's operations take, by whatever clock counts there.
#pragma once

#include <chrono>
#include <thread>

namespace ccl_tests {

// CLOCK_MONOTONIC of this machine. A simulator's communicators have a clock of their own.
class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds since an arbitrary moment.
  virtual double now() const {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
  }
  // Lets `seconds` of this clock pass on the calling rank.
  virtual void sleep_for(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
};

// CLOCK_MONOTONIC in seconds.
inline double monotonic_seconds() { return Clock().now(); }

}  // namespace ccl_tests
