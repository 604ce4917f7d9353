// What a cell of the table is measured for, from the options. Pure.
#pragma once

#include "src/measure/stopping.hpp"
#include "src/measure/stream_criterion.hpp"
#include "src/options/options.hpp"
#include "src/run/point.hpp"
#include "src/run/slots.hpp"

namespace ccl_tests {

// Returns the goal of nccl-tests' batch. checks: results are compared. simulated: nothing gets warm
// there. most_calls: BatchGoal's.
BatchGoal batch_goal(const Options& options, bool checks, bool simulated, std::size_t most_calls);

// Returns how many calls a block may have: 0 any number, those of a row's slots with -c all (checks: results are compared),
// the fewest of all groups', on which the same number runs.
std::size_t most_calls(const Options& options, const Problem& problem, const SlotRule& slots,
                       bool checks);

struct StreamLimits {
  double clock_cost_s = 0;  // of one reading
  double budget_s = PrecisionGoal().budget_s;
  std::size_t most_calls = 0;  // of a block; 0: any number
  bool cpus_short = false;     // ranks wait for CPUs
};

// Returns the goal of a stream.
PrecisionGoal precision_goal(const Options& options, const Problem& problem, bool checks,
                             const StreamLimits& limits);

}  // namespace ccl_tests
