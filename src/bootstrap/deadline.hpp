// Points in time that waits end at.
#pragma once

#include <algorithm>
#include <chrono>

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

// Takes a limit of 0 or less for none, as Communicator::set_time_limit does.
inline TimePoint deadline_of_limit(double limit_s) {
  return deadline_in(limit_s > 0 ? limit_s : 3e8);
}

}  // namespace ccl_tests
