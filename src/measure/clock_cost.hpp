// What reading a clock costs and how finely it counts.
#pragma once

#include "src/core/clock.hpp"

namespace ccl_tests {

// Seconds. Both 0 of a simulator's clock, which stands between events.
struct ClockProperties {
  double cost_s = 0;        // of one reading: the median of some thousand
  double resolution_s = 0;  // the smallest difference of two readings that is not 0
};

ClockProperties clock_properties(const Clock& clock);

}  // namespace ccl_tests
