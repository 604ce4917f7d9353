// What reading a clock costs.
#pragma once

#include "src/core/clock.hpp"

namespace ccl_tests {

// Returns the seconds that one reading takes: the median of some thousand. 0 of a simulator's clock.
double clock_cost(const Clock& clock);

}  // namespace ccl_tests
