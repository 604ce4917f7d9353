#include "src/core/clock.hpp"

#include <chrono>
#include <thread>

namespace ccl_tests {

double Clock::now() const {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

void Clock::sleep_for(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double monotonic_seconds() { return Clock().now(); }

}  // namespace ccl_tests
