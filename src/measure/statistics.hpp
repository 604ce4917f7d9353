// Statistics of the single iterations of a batch (-I), as nccl-tests computes them.
#pragma once

#include <vector>

namespace ccl_tests {

struct Statistics {
  double min = 0, max = 0, mean = 0, p50 = 0, p95 = 0, p99 = 0, stdev = 0;
};

// Percentiles by nearest rank, except that p50 is sorted[n / 2]; stdev is the population's. All 0
// of no values.
Statistics statistics(std::vector<double> values);

// Returns the middle value, or the mean of the two middle values. `values` must not be empty.
double median(std::vector<double> values);

}  // namespace ccl_tests
