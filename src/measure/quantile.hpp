// Quantiles of the normal distribution.
#pragma once

namespace ccl_tests {

// Returns z so that a standard normal value exceeds z with probability `tail` (0 < tail < 1).
double normal_quantile_above(double tail);

}  // namespace ccl_tests
