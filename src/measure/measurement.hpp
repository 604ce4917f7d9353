// The measurement of one cell: steps that one rank decides on, each taken by all ranks.
#pragma once

#include <vector>

#include "src/core/clock.hpp"
#include "src/measure/stopping.hpp"
#include "src/measure/workload.hpp"

namespace ccl_tests {

// The loop that holds a clock to calls.

// Collective: barrier, the untimed calls, barrier, the timed ones; prepared by the caller. Nothing
// but the workload's calls happens between the readings of the clock. Without samples: nothing.
Samples take_block(const BlockPlan& plan, Workload& workload, Barrier& barrier, const Clock& clock);

// Carries decisions to the ranks and samples back, beside the library under test and off the clock.
// Collective over all ranks.
class Coordinator {
 public:
  virtual ~Coordinator() = default;
  // Returns the deciding rank's step on every rank.
  virtual Step agree(const Step& decision) = 0;
  // Returns every rank's samples on the deciding rank, in rank order; elsewhere nothing.
  virtual std::vector<Samples> gather(const Samples& mine) = 0;
};

// Takes the criterion's steps; what it has taken is the result. Collective. criterion: of the deciding
// rank; null on the others. Throws what the workload, the barrier and the coordinator throw.
void measure(StoppingCriterion* criterion, Workload& workload, Barrier& barrier, const Clock& clock,
             Coordinator& coordinator);

}  // namespace ccl_tests
