// Single operations (--samples), each behind a barrier, taken until their time is known well
// enough.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/measure/stream_criterion.hpp"

namespace ccl_tests {

// The samples of a group of ranks, each a barrier and an operation: how long they took, and when
// each rank entered and left. Pure.

// The moments of each sample, in seconds, of one clock.
struct SampleBrackets {
  std::vector<double> low;   // from the last entry to the last exit, per call
  std::vector<double> high;  // from the first entry to the last exit, per call
  std::vector<double> skew;  // from the first entry to the last
};

// Returns the brackets of a group's samples. If entering earlier never delays an operation, the
// time that it would take ranks which enter together is at least `low` and at most `high`, and so
// is the longest duration (stamp_times).
SampleBrackets brackets_of(const std::vector<Samples>& ranks, std::span<const int> group,
                           std::size_t calls);

// The order in which the ranks of a group came and went: one number of each.
struct RankOrder {
  std::vector<double> late_share;  // of the samples, those that the rank alone entered last
  std::vector<double> slow_share;  // and those that it alone left last
  std::vector<double> late_s;      // median seconds from the median rank's entry to its own
};

// Returns who was last in a group's samples. A rank that is behind the next one by no more than
// `tie_s` counts for nobody. Moments are of one clock.
RankOrder rank_order(const std::vector<Samples>& ranks, std::span<const int> group,
                     double tie_s = 0);

// Takes samples of one call each, or of several if one is too short for the clock; not of
// rooted operations, whose root would run ahead. The slowest rank's duration counts: goal.average
// is not used. spent_s has the barriers: from a block's first entry to its last exit, on the rank
// where that is longest.
class SampleCriterion : public PrecisionCriterion {
 public:
  explicit SampleCriterion(const PrecisionGoal& goal);

 private:
  double value_s() const override;
  double spent(std::span<const Samples> block, double group_s) const override;
};

}  // namespace ccl_tests
