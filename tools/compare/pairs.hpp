// Rows of two sides as pairs, and the sign test over them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/judge/limits.hpp"
#include "src/record/read.hpp"

namespace ccl_tests::compare {

// The exact sign test and what follows from it. No function assumes a distribution of the values.

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

// The times of one invocation of a program, by row.

// Returns the placement with what else the table has no column for: "in_place,root=2,pair=0:1".
std::string where_text(const RowKey& key);
// Returns the row in words: "1024 B float sum out_of_place,root=2".
std::string row_text(const RowKey& key);

struct RowTime {
  double seconds = 0;
  std::optional<Interval> interval;  // of the time, as the run printed it; none of a percentile
};

// One invocation's rows in the order of their keys.
using RunTimes = std::map<RowKey, RowTime>;

// The note of runs that are compared by JudgedBy::fast.
inline constexpr std::string_view fast_note =
    "more busy threads than CPUs, so medians are noise: rows compare the 10th percentile of the calls; rows that have only a mean compare it";

// Returns the run's times. Leaves out rows without a time, and in-place rows that repeat the
// out-of-place ones. If a run repeats a row (-N), the row's time is the median and has no interval. Of
// --passes it is that of the row which stands for them, or if the run had no time for that, the same.
RunTimes times_of(const RecordedRun& run, JudgedBy by);

// A run of the base and a run of the head that are compared with each other.
struct RunPair {
  RunTimes base, head;
};

// The times of one row, one element a pair.
struct RowPairs {
  std::vector<RowTime> base, head;

  std::size_t size() const { return base.size(); }
  std::vector<double> log_ratios() const;  // ln(head / base)
};

struct Matched {
  std::map<RowKey, RowPairs> rows;  // that at least one pair has on both sides
  std::size_t only_base = 0, only_head = 0;
};

// Matches the rows of each pair by their keys. only_base and only_head count the rows that no pair
// has on both sides.
Matched match(const std::vector<RunPair>& pairs);

}  // namespace ccl_tests::compare
