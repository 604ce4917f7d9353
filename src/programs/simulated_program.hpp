// The program from top to bottom on a simulator's ranks. All of them run on one thread, one after
// the other: nothing watches them, and they exchange over MPI instead of the control plane.
#pragma once

#include <functional>
#include <string>

#include "src/job/job.hpp"
#include "src/programs/run_program.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests {

// Runs `body` on this rank, with hooks.open before and hooks.write_end after it, as run_job does;
// the launcher, hosts and ranks are the simulator's. Collective. Throws what body throws.
int run_simulated_job(const JobSetup& job, const RankBody& body, const JobHooks& hooks);

// As run_main, for main() of a simulated rank. An error ends the process, which is all ranks.
int run_simulated_main(const std::string& program, const std::function<int()>& main);

// Simulated ranks are copies of the executable, not of this library: they share these tables, which
// would otherwise be computed once per rank.
verify::PatternCache& simulated_patterns();

}  // namespace ccl_tests
