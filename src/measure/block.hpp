// The loop that holds a clock to calls.
#pragma once

#include "src/core/clock.hpp"
#include "src/measure/workload.hpp"

namespace ccl_tests {

// Collective: barrier, the untimed calls, barrier, the timed ones; prepared by the caller. Nothing
// but the workload's calls happens between the readings of the clock. Without samples: nothing.
Samples take_block(const BlockPlan& plan, Workload& workload, Barrier& barrier, const Clock& clock);

}  // namespace ccl_tests
