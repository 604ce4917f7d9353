// Single operations (--samples), each behind a barrier, taken until their time is known well enough.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/measure/precision_goal.hpp"
#include "src/measure/stopping.hpp"
#include "src/measure/workload.hpp"

namespace ccl_tests {

// The samples of a group of ranks, each a barrier and an operation: how long they took, and when each
// rank entered and left. Pure.

// Returns of each sample the longest of the ranks' local durations, in seconds per call. Needs no
// common clock. ranks: samples of all ranks of the job.
std::vector<double> longest_durations(const std::vector<Samples>& ranks, std::span<const int> group,
                                      std::size_t calls);

// The moments of each sample, in seconds, of one clock.
struct SampleBrackets {
  std::vector<double> low;   // from the last entry to the last exit, per call
  std::vector<double> high;  // from the first entry to the last exit, per call
  std::vector<double> skew;  // from the first entry to the last
};

// Returns the brackets of a group's samples. If entering earlier never delays an operation, the time
// that it would take ranks which enter together is at least `low` and at most `high`, and so is the
// longest duration (longest_durations).
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

// First the single calls. Then samples of one call, which tell how long a call takes; if that is too
// short for the clock, samples of several calls, except of rooted operations, whose root would run
// ahead. Then blocks of samples until every group has its precision or the budget is spent. Of a
// sample the slowest rank's duration counts. goal.average is not used.
class SampleCriterion : public StoppingCriterion {
 public:
  explicit SampleCriterion(PrecisionGoal goal) : goal_(std::move(goal)) {}

  Step next() const override;
  void add(const Step& step, std::span<const Samples> ranks) override;
  const std::vector<Samples>& samples() const override { return samples_; }
  std::size_t iterations() const override { return taken() * calls_; }
  std::size_t discarded_blocks() const override { return discarded_; }
  std::size_t calls_per_stamp() const override { return calls_; }
  // With the barriers: from a block's first entry to its last exit, on the rank where that is longest.
  double spent_s() const override { return spent_s_; }

 private:
  enum class Phase { single_calls, calibration, samples };

  std::size_t taken() const { return samples_.empty() ? 0 : samples_.front().size(); }
  std::size_t least_samples() const;
  std::size_t wanted() const;
  double call_with_barrier_s() const;
  bool calibrated(std::span<const Samples> ranks);
  void append(std::span<const Samples> ranks);

  PrecisionGoal goal_;
  Phase phase_ = Phase::single_calls;
  double call_s_ = 0;   // of the slowest group
  double spent_s_ = 0;  // on samples that count
  double widest_ = 0;   // half width of the widest group; infinite without an interval
  std::size_t calls_ = 1, discarded_ = 0, blocks_ = 0;
  std::vector<Samples> samples_;
};

}  // namespace ccl_tests
