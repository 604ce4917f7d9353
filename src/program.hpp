// A program from top to bottom.
#pragma once

#include "src/core/collective.hpp"
#include "src/run/rank_job.hpp"

namespace ccl_tests {

// main() of every program: options, launcher, ranks, run, exit code (see Exit). Does not throw.
int run_program(const Collective& collective, int argc, char** argv, RankBody body = run_rank);

}  // namespace ccl_tests
