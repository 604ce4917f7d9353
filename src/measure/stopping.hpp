// What to take next for a cell of the table, and when it is done. Pure: fed by whoever measures.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "src/measure/workload.hpp"

namespace ccl_tests {

// One turn of a measurement, the same on all ranks.
struct Step {
  enum class Kind : int { done, single_calls, block };
  Kind kind = Kind::done;
  SingleCalls single = {};  // of Kind::single_calls
  BlockPlan block = {};     // of Kind::block
};

// nccl-tests' batch: a fixed number of iterations behind a warm-up.
struct BatchGoal {
  std::size_t iterations = 20;  // 0: nothing is timed
  std::size_t aggregate = 1;    // calls of an iteration
  Blocking blocking = Blocking::none;
  std::optional<std::size_t> warmup =
      {};                   // untimed calls; nullopt: as many as a clock needs, see below
  std::size_t checked = 1;  // single calls whose results are verified
  double limit_s = 0;       // fewer iterations if these would take longer; 0: never
  std::size_t repeats = 1;  // how often the block runs (graphs)
};

// Without a number of its own a block begins with at least least_untimed calls and least_untimed_s
// seconds of calls, since the first calls after anything else cost several times what later ones do
// (measured over MPI: 5 to 8 us instead of 0.2 us); but not with more than most_untimed_s of them.
inline constexpr std::size_t least_untimed = 20;
inline constexpr double least_untimed_s = 1e-3;
inline constexpr double most_untimed_s = 0.1;

// Decides for all ranks, on one of them.
class StoppingCriterion {
 public:
  explicit StoppingCriterion(const BatchGoal& goal) : goal_(goal) {}

  Step next() const;
  // ranks: what each rank took in the step, in rank order.
  void add(const Step& step, std::span<const Samples> ranks);
  // Of the timed block, after --row-time's cap.
  std::size_t iterations() const { return iterations_; }

 private:
  BlockPlan block() const;
  std::size_t untimed() const;

  BatchGoal goal_;
  std::size_t steps_ = 0, iterations_ = 0;
  double call_s_ = 0;  // of the slowest rank's last single call
};

// How many of `wanted` iterations fit into limit_s when one takes iteration_s: at least 1. limit_s
// 0: all.
std::size_t capped_iterations(std::size_t wanted, double iteration_s, double limit_s);

}  // namespace ccl_tests
