// Programs from their first line to their exit code, which they return.
#pragma once

#include "src/core/collective.hpp"
#include "src/programs/run_program.hpp"

namespace ccl_tests {

struct JobSetup;
struct Options;

// The name and flags of init_perf, which times how a job starts, and is no collective.
extern const Collective init_spec;
// Runs init_perf after its command line was read.
int run_init(const Options& options, const JobSetup& job);

}  // namespace ccl_tests
