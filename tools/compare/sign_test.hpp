// The exact sign test and what follows from it. No function assumes a distribution of the values.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ccl_tests::compare {

// Returns the p-value of the hypothesis that the median of `values` is at most `bound`. A value
// equal to `bound` counts in favour of the hypothesis. Returns 1 if there are no values.
double p_median_at_most(const std::vector<double>& values, double bound);
// Returns the p-value of the hypothesis that the median of `values` is at least `bound`.
double p_median_at_least(const std::vector<double>& values, double bound);

struct Interval {
  double low = 0, high = 0;
};
// Returns the narrowest interval between two order statistics, the k-th from either end, which
// covers the median with at least `confidence`. Returns nullopt if there are too few values (fewer
// than 6 for 0.95).
std::optional<Interval> median_interval(std::vector<double> values, double confidence = 0.95);

}  // namespace ccl_tests::compare
