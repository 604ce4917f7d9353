// Single operations (--samples), each behind a barrier, taken until their time is known well enough.
#pragma once

#include "src/measure/precision_goal.hpp"
#include "src/measure/stopping.hpp"

namespace ccl_tests {

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
