// Decides what to take next for a cell of the table, and when it is done. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "src/measure/workload.hpp"

namespace ccl_tests {

// One turn of a measurement, the same on all ranks.
struct Step {
  enum class Kind : int { done, single_calls, block };
  Kind kind = Kind::done;
  SingleCalls single = {};  // of Kind::single_calls
  BlockPlan block = {};     // of Kind::block
};

// The samples of a cell that count, and what they stand for.
struct TakenSamples {
  std::vector<Samples> samples;  // of each rank, in rank order; empty: nothing was timed
  std::size_t iterations = 0;    // calls of one rank's samples over the calls of an iteration
  // The calls of one sample if samples are values of one time (stamps), which has an interval then.
  // 0: they are parts of a batch.
  std::size_t calls_per_stamp = 0;
  double spent_s = 0;                // on timed calls, as far as a budget limits them
  std::size_t discarded_blocks = 0;  // the first ones, which no sample is of
};

// Decides for all ranks, on one of them.
class StoppingCriterion {
 public:
  virtual ~StoppingCriterion() = default;
  virtual Step next() const = 0;
  // ranks: what each rank took in the step, in rank order.
  virtual void add(const Step& step, std::span<const Samples> ranks) = 0;
  const TakenSamples& taken() const { return so_far; }

 protected:
  void append(std::span<const Samples> ranks);  // to the samples that count

  TakenSamples so_far;
};

// The first calls after anything else cost several times what later ones do (measured over MPI: 5 to
// 8 us instead of 0.2 us). A block therefore begins with at least least_untimed calls and
// least_untimed_s seconds of calls, but not with more than most_untimed_s of them. A cell that ends
// when its time is precise has more than one block, and few of its stamps are of first calls.
inline constexpr std::size_t least_untimed = 20;
inline constexpr double least_untimed_s = 1e-3;
inline constexpr double most_untimed_s = 0.1;

// Returns the number of calls of call_s seconds each that are `least` and least_untimed_s at least
// and most_s at most. 0 if a call takes no time (a simulator's clock).
std::size_t untimed_calls(double call_s, std::size_t least, double most_s);

// Returns how many of `wanted` iterations fit into limit_s when one takes iteration_s: at least 1.
// limit_s 0: all.
std::size_t capped_iterations(std::size_t wanted, double iteration_s, double limit_s);

// Returns the longest time of the ranks' last samples, 0 without samples.
double longest_last(std::span<const Samples> ranks);

// nccl-tests' measurement: one batch of a fixed number of iterations.
struct BatchGoal {
  std::size_t iterations = 20;  // 0: nothing is timed
  std::size_t aggregate = 1;    // calls of an iteration
  Blocking blocking = Blocking::none;
  std::optional<std::size_t> warmup = {};  // untimed calls; nullopt: as many as a clock needs
  std::size_t checked = 1;                 // single calls whose results are verified
  double limit_s = 0;                      // fewer iterations if these would take longer; 0: never
  std::size_t repeats = 1;                 // how often the block runs (graphs)
  // So many iterations tell first what a batch of many more takes, as a single call may be quick by
  // chance. They count if `warmup` says how many calls are untimed. 0: none do.
  std::size_t trial = 0;
  // Every call is verified: a block has so many calls at most, each timed alone, and there are as many
  // blocks as the iterations need. 0: one block.
  std::size_t most_calls = 0;
};

class BatchCriterion : public StoppingCriterion {
 public:
  explicit BatchCriterion(const BatchGoal& goal) : goal_(goal) {}

  Step next() const override;
  void add(const Step& step, std::span<const Samples> ranks) override;

 private:
  BlockPlan block() const;
  bool tries() const;  // the next block is the trial

  BatchGoal goal_;
  std::size_t steps_ = 0;
  std::size_t done_ = 0;  // iterations, of the blocks so far
  double call_s_ = 0;     // of the slowest rank's last single call, or the mean of its last block
  double spent_s_ = 0;    // on iterations that count
  bool tried_ = false;
};

}  // namespace ccl_tests
