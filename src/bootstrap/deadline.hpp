// Points in time that waits end at.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ccl_tests {

using TimePoint = std::chrono::steady_clock::time_point;

inline std::chrono::nanoseconds seconds_to_duration(double seconds) {
  constexpr double ten_years = 3e8;  // keeps the sum with now() within 64 bits
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, ten_years)));
}

inline TimePoint deadline_in(double seconds) {
  return std::chrono::steady_clock::now() + seconds_to_duration(seconds);
}

// Heartbeats without a sign of life after which exchanges and calls wait no longer for a process that is stopped, or
// whose host is: those of limit_s, at least 5. A limit of 0: those after which any process is gone.
inline int stopped_heartbeats(double limit_s, double heartbeat_s, int silent_heartbeats) {
  if (limit_s <= 0) return silent_heartbeats;
  return static_cast<int>(std::clamp(std::ceil(limit_s / heartbeat_s), 5.0, 1e6));
}

// A limit of 0 or less means none, as for Communicator::set_time_limit.
inline TimePoint deadline_of_limit(double limit_s) {
  return deadline_in(limit_s > 0 ? limit_s : 3e8);
}

}  // namespace ccl_tests
