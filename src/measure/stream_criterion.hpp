// The default measurement: a stream of calls with stamps, taken until its time is known well enough.
#pragma once

#include "src/measure/precision_goal.hpp"
#include "src/measure/stopping.hpp"

namespace ccl_tests {

// First the single calls. Then stamps of one call each, which tell how long a call takes. Then blocks
// of stamps of calls_per_stamp() calls each, until every group has its precision or the budget is
// spent. The clock costs at most a hundredth of a stamp.
class StreamCriterion : public StoppingCriterion {
 public:
  explicit StreamCriterion(PrecisionGoal goal) : goal_(std::move(goal)) {}

  Step next() const override;
  void add(const Step& step, std::span<const Samples> ranks) override;
  const std::vector<Samples>& samples() const override { return samples_; }
  std::size_t iterations() const override { return stamps() * calls_per_stamp_; }
  std::size_t discarded_blocks() const override { return discarded_; }
  std::size_t calls_per_stamp() const override { return calls_per_stamp_; }
  double spent_s() const override { return spent_s_; }

 private:
  enum class Phase { single_calls, probe, stream };

  std::size_t stamps() const { return samples_.empty() ? 0 : samples_.front().size(); }
  std::size_t least_stamps() const;
  std::size_t wanted() const;
  void set_call_time(std::span<const Samples> ranks);
  BlockPlan plan(std::size_t samples, std::size_t untimed) const;

  PrecisionGoal goal_;
  Phase phase_ = Phase::single_calls;
  double call_s_ = 0;   // of the slowest group
  double spent_s_ = 0;  // on stamps that count
  double widest_ = 0;   // half width of the widest group; infinite without an interval
  std::size_t calls_per_stamp_ = 1, discarded_ = 0, blocks_ = 0;
  std::vector<Samples> samples_;
};

// Returns the time of each stamp of a group, in seconds per call: of all its ranks by `average`.
std::vector<double> stamp_times(const std::vector<Samples>& ranks, std::span<const int> group,
                                Average average, std::size_t calls_per_stamp);

}  // namespace ccl_tests
