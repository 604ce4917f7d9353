// One rank's part of an acceptance run.
#pragma once

#include "src/job/rank.hpp"
#include "tools/acceptance/arguments.hpp"
#include "tools/acceptance/host/probe.hpp"
#include "tools/acceptance/journal.hpp"
#include "tools/acceptance/plan/plan.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests::acceptance {

// Looks at everything in the plan. Returns the exit code, the same on all ranks. journal: the process's; that of
// rank 0 keeps what is found, that of the rank which speaks if rank 0 is gone knows only what is run.
// Collective. Throws what the library, a peer or a limit throws.
int run(Rank& rank, const Arguments& arguments, const Plan& plan, verify::PatternCache& patterns,
        Journal* journal, const HostProbe& probe);

// Returns the exit code of a verdict.
int exit_code_of(const Record& record);

}  // namespace ccl_tests::acceptance
