// The verdict of the pairs of a row.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "tools/compare/pairs.hpp"

namespace ccl_tests::compare {

// Holm's correction for several tests (Scandinavian Journal of Statistics 6, 1979).

// Returns the adjusted p-values, in the order of `p`. Rejecting those at most `alpha` keeps the
// probability of any false rejection at most `alpha`, whatever the dependence between the tests.
std::vector<double> holm(const std::vector<double>& p);

// Returns how many pairs a sign test needs so that its smallest p-value survives the correction
// over `tests` tests at `alpha`.
std::size_t fewest_pairs(std::size_t tests, double alpha);

// Returns how many of `pairs` pairs must lie beyond the bound so that the sign test's p-value
// survives the correction over `tests` tests at `alpha`. Returns nullopt if all are not enough.
std::optional<std::size_t> pairs_that_agree(std::size_t pairs, std::size_t tests, double alpha);

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
};

// "slower", or "slower?" if the verdict is a hint.
std::string_view verdict_text(const RowResult& row);

// Probability of at least one false "slower" among all rows, and of one false "faster".
inline constexpr double false_alarm_rate = 0.05;

// Returns the smallest ratio that the test takes for slower: `slower` rejects that the median ratio
// is at most this. threshold: a share, 0.05 for 5 %.
double tested_ratio(double threshold);

// Returns the keys of rows whose median ratio is beyond the threshold.
std::set<RowKey> flag(const Matched& screen, double threshold);

// The number of tests that those of rows have to be corrected for.
struct Correction {
  std::size_t tests = 0;  // rows; at least those that are judged
  std::size_t looks =
      1;  // how often they are judged, with ever more pairs: each look gets an equal part (Bonferroni)
};

// Tests every row of `matched`: the exact sign test in both directions, each with Holm's
// correction over the rows (those that are missing have p = 1).
// The results are in the order of the keys; those beyond the threshold are flagged.
std::vector<RowResult> judge(const Matched& matched, double threshold,
                             const Correction& correction = {});

// Compares single runs by the intervals of their times. All verdicts are hints.
std::vector<RowResult> hint(const Matched& matched, double threshold);

// Returns a screened row that nothing else was measured of: unflagged, or inconclusive if flagged.
std::vector<RowResult> screened(const Matched& screen, const std::set<RowKey>& flagged);

}  // namespace ccl_tests::compare
