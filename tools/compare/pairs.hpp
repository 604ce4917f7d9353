// Rows of two sides as pairs, the sign test over them, and the verdict of a row's pairs.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/judge/limits.hpp"
#include "src/record/read.hpp"

namespace ccl_tests::compare {

// Return the p-value of the exact sign test, which assumes no distribution, of the hypothesis that
// the median of `values` is at most, or at least, `bound`. A value equal to `bound` counts in favour
// of the hypothesis. Return 1 if there are no values.
double p_median_at_most(const std::vector<double>& values, double bound);
double p_median_at_least(const std::vector<double>& values, double bound);

struct Interval {
  double low = 0, high = 0;
};
// Returns the narrowest interval between two order statistics, the k-th from either end, which
// covers the median with at least `confidence`. Returns nullopt if there are too few values (fewer
// than 6 for 0.95).
std::optional<Interval> median_interval(std::vector<double> values, double confidence = 0.95);

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

// Returns the p-values after Holm's correction for several tests (Scandinavian Journal of Statistics
// 6, 1979), in the order of `p`. Rejecting those at most `alpha` keeps the probability of any false
// rejection at most `alpha`, whatever the dependence between the tests.
std::vector<double> holm(const std::vector<double>& p);

// Probability of at least one false "slower" among all rows, and of one false "faster".
inline constexpr double false_alarm_rate = 0.05;

// Returns how many pairs a sign test needs so that its smallest p-value survives the correction over `tests` tests.
std::size_t fewest_pairs(std::size_t tests);

// Returns how many of `pairs` pairs must lie beyond the bound so that the sign test's p-value survives the correction
// over `tests` tests. Returns nullopt if all are not enough.
std::optional<std::size_t> pairs_that_agree(std::size_t pairs, std::size_t tests);

// slower, faster: confirmed by the sign test. same: the ratio's interval lies within the threshold.
// not_slower: it is not, but the test rejects that the row is slower by the threshold or more.
// unflagged: the screen saw no difference beyond the threshold, and nothing else was tested.
enum class RowVerdict { slower, faster, same, not_slower, inconclusive, unflagged };

struct RowResult {
  RowKey key;
  double base_s = 0, head_s = 0;  // medians
  double ratio = 1;               // head / base, the median over pairs: not the medians' quotient
  std::optional<Interval> interval;  // of the ratio
  std::size_t pairs = 0;
  bool flagged = false;  // its ratio was beyond the threshold before it was tested
  bool hint = false;     // nothing but the intervals of two single runs speak for the verdict
  std::optional<double> p_slower, p_faster;  // corrected; absent: not tested
  RowVerdict verdict = RowVerdict::inconclusive;

  bool undecided() const { return flagged && verdict == RowVerdict::inconclusive; }
};

// Returns "slower", or "slower?" if the verdict is a hint.
std::string verdict_text(const RowResult& row);

// Returns the smallest ratio that the test takes for slower: `slower` rejects that the median ratio
// is at most this. threshold: a share, 0.05 for 5 %.
double tested_ratio(double threshold);

// Returns the keys of rows whose median ratio is beyond the threshold.
std::set<RowKey> flag(const Matched& screen, double threshold);

// The number of tests that those of rows have to be corrected for.
struct Correction {
  std::size_t tests = 0;  // rows; at least those that are judged
  std::size_t looks = 1;  // with ever more pairs; each gets an equal part of alpha (Bonferroni)
};

// Tests every row of `matched`: the exact sign test in both directions, each with Holm's correction
// over the rows (those that are missing have p = 1). The results are in the order of the keys; those
// beyond the threshold are flagged.
std::vector<RowResult> judge(const Matched& matched, double threshold,
                             const Correction& correction = {});

// Compares single runs by the intervals of their times. All verdicts are hints.
std::vector<RowResult> hint(const Matched& matched, double threshold);

// Returns a screened row that nothing else was measured of: unflagged, or inconclusive if flagged.
std::vector<RowResult> screened(const Matched& screen, const std::set<RowKey>& flagged);

}  // namespace ccl_tests::compare
