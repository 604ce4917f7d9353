// One rank's part of X_perf: every row that the options ask for.
#pragma once

#include "src/job/rank.hpp"
#include "src/report/run_results.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests {

// Returns the run's exit code so far, the same on all ranks. results: rank 0's, fed with header,
// rows and notes. Collective. Throws what the library, a peer or a limit throws.
int sweep(Rank& rank, const Collective& collective, const Options& options,
          verify::PatternCache& patterns, RunResults& results);

}  // namespace ccl_tests
