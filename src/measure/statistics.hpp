// Statistics of a few numbers, and those of the single iterations of a batch (-I) as nccl-tests
// computes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ccl_tests {

// nccl-tests' -a: one number for the times of all ranks.
enum class Average : int { rank0 = 0, mean = 1, min = 2, max = 3 };

// values: one of each rank, in rank order; at least one.
double average(Average how, std::span<const double> values);

// Returns z so that a standard normal value exceeds z with probability `tail` (0 < tail < 1).
double normal_quantile_above(double tail);

struct Statistics {
  double min = 0, max = 0, mean = 0, p50 = 0, p95 = 0, p99 = 0, stdev = 0;
};

// Percentiles by nearest rank, except that p50 is sorted[n / 2]; stdev is the population's. All 0
// of no values.
Statistics statistics(std::vector<double> values);

// Returns the arithmetic mean. `values` must not be empty.
double mean_of(std::span<const double> values);

// Returns the sum of the squares of the values' deviations from their mean. `values` must not be
// empty.
double squared_deviations(std::span<const double> values);

// Returns the percentile by nearest rank. `sorted` must not be empty.
double percentile(const std::vector<double>& sorted, double percent);

// Returns the middle value, or the mean of the two middle values. `values` must not be empty.
double median(std::vector<double> values);

// Returns the standard deviation that normally distributed deviations from a known middle have whose median size
// is theirs: 1.4826 times that (1 / the 75th percentile of a standard normal value). `deviations` must not be empty.
double robust_deviation(std::vector<double> deviations);
// The same of values, from their median: 1.4826 times the median absolute deviation.
double deviation_from_median(std::vector<double> values);

// Returns the place of each value among all, from 1; equal values share the mean of their places.
std::vector<double> places(std::span<const double> values);

// Returns P(X >= hits), X being binomial of `trials` and `chance` (0 to 1).
double binomial_tail(std::uint64_t trials, std::uint64_t hits, double chance);

// Returns the value that Student's t exceeds with probability 2.5 %, within 0.002. `degrees` of freedom: at
// least 1.
double student(std::size_t degrees);

// Returns half of the width of the 95 % interval of the mean of independent values, from their own
// spread (Student's t). 0 of less than two.
double half_width_of_mean(std::span<const double> values);

// Returns true if a rank that was last in `hits` of `trials` samples may be named: in more than half of
// them and more than three times as often as `chance` (1 / ranks), and by chance with a probability
// below 0.001. Of 2 or 3 ranks nobody is: one of so few is last often enough without a reason.
bool stands_out(std::uint64_t trials, std::uint64_t hits, double chance);

}  // namespace ccl_tests
