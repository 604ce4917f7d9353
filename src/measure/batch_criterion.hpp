// nccl-tests' measurement: one batch of a fixed number of iterations.
#pragma once

#include <optional>

#include "src/measure/stopping.hpp"

namespace ccl_tests {

struct BatchGoal {
  std::size_t iterations = 20;  // 0: nothing is timed
  std::size_t aggregate = 1;    // calls of an iteration
  Blocking blocking = Blocking::none;
  std::optional<std::size_t> warmup = {};  // untimed calls; nullopt: as many as a clock needs
  std::size_t checked = 1;                 // single calls whose results are verified
  double limit_s = 0;                      // fewer iterations if these would take longer; 0: never
  std::size_t repeats = 1;                 // how often the block runs (graphs)
  // Every call is verified: a block has so many calls at most, each timed alone, and there are as many
  // blocks as the iterations need. 0: one block.
  std::size_t most_calls = 0;
};

class BatchCriterion : public StoppingCriterion {
 public:
  explicit BatchCriterion(const BatchGoal& goal) : goal_(goal) {}

  Step next() const override;
  void add(const Step& step, std::span<const Samples> ranks) override;
  const std::vector<Samples>& samples() const override { return samples_; }
  std::size_t iterations() const override { return iterations_; }

 private:
  BlockPlan block() const;
  BlockPlan verified_block() const;

  BatchGoal goal_;
  std::size_t steps_ = 0, iterations_ = 0;
  std::size_t taken_ = 0;  // iterations, of the blocks so far
  double call_s_ = 0;      // of the slowest rank's last single call
  std::vector<Samples> samples_;
};

}  // namespace ccl_tests
