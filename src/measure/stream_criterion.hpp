// Takes values of one time until the time is known well enough. A stream of calls with stamps is
// the default measurement.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "src/measure/estimate.hpp"
#include "src/measure/statistics.hpp"
#include "src/measure/stopping.hpp"

namespace ccl_tests {

// The goal of a cell that ends when its time is precise.
struct PrecisionGoal {
  double precision = 0.02;          // half of the interval's width over the value
  double budget_s = 0.3;            // of a cell's timed calls, if the precision is not reached
  bool gives_up = false;            // ends earlier if the budget will not be enough
  double clock_cost_s = 0;          // of one reading
  double limit_s = 0;               // fewer stamps if these would take longer; 0: never
  std::size_t checked = 1;          // single calls whose results are verified
  double block_s = 0;               // longest planned block, untimed calls included; 0: any
  std::size_t most_calls = 0;       // of a block, untimed ones included; 0: any number
  Average average = Average::mean;  // of the ranks' times of one stamp
  Statistic statistic = Statistic::median;    // mean: of rooted operations
  std::vector<std::vector<int>> groups = {};  // ranks of the groups that run at once, each a cell
};

// Returns the time of each stamp of a group, in seconds per call: of all its ranks by `average`.
// Needs no common clock. ranks: samples of all ranks of the job.
std::vector<double> stamp_times(const std::vector<Samples>& ranks, std::span<const int> group,
                                Average average, std::size_t calls_per_stamp);

// The share of a value that reading the clock may take.
inline constexpr double clock_share = 0.01;

// Takes the single calls, then values of one call each, which tell how long a call takes, then
// blocks of values of calls_per_stamp calls each, until every group has its precision or the
// budget is spent.
class PrecisionCriterion : public StoppingCriterion {
 public:
  Step next() const override;
  void add(const Step& step, std::span<const Samples> ranks) override;

 protected:
  // The differences of streams and samples.
  struct Rules {
    Blocking blocking;
    double value_s;             // least seconds of a value
    std::size_t values;         // least number, of short calls
    std::size_t most_at_first;  // short values that tell how long a call takes
    std::size_t most;           // of a cell
  };
  PrecisionCriterion(PrecisionGoal goal, const Rules& rules)
      : goal_(std::move(goal)), rules_(rules) {
    so_far.calls_per_stamp = 1;
  }
  std::size_t values() const { return so_far.samples.empty() ? 0 : so_far.samples.front().size(); }
  double calls() const { return static_cast<double>(so_far.calls_per_stamp); }  // of a value
  double call_s() const { return call_s_; }  // of the slowest group

 private:
  enum class Phase { single_calls, calibration, values };

  // Returns the seconds that one more value takes.
  virtual double value_s() const = 0;
  // Returns what was spent after a block; group_s: the time of all values of the slowest group.
  virtual double spent(std::span<const Samples> block, double group_s) const = 0;
  std::size_t least_values() const;
  std::size_t first_values() const;
  std::size_t wanted() const;
  std::size_t untimed(bool first) const;
  double budget_s() const;
  bool hopeless(double ratio) const;
  BlockPlan limited(BlockPlan plan) const;
  void calibrate(std::span<const Samples> ranks);
  void add_block(std::span<const Samples> ranks);

  PrecisionGoal goal_;
  Rules rules_;
  Phase phase_ = Phase::single_calls;
  double call_s_ = 0;  // of the slowest group
  double widest_ = 0;  // half width of the widest group; infinite without an interval
  std::size_t blocks_ = 0;
};

// A stream of calls, whose stamps are the values. The clock costs at most a hundredth of a stamp.
class StreamCriterion : public PrecisionCriterion {
 public:
  explicit StreamCriterion(const PrecisionGoal& goal);

 private:
  double value_s() const override { return call_s() * calls(); }
  double spent(std::span<const Samples> /*block*/, double group_s) const override {
    return group_s;
  }
};

}  // namespace ccl_tests
