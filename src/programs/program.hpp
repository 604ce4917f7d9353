// Programs from their first line to their exit code, which they return.
#pragma once

#include "src/core/collective.hpp"

namespace ccl_tests {

// X_perf.
int run_program(const Collective& collective, int argc, char** argv);

// The name and flags of init_perf, which times how a job starts. It is no collective and moves 8 bytes.
extern const Collective init_spec;
int run_init_program(int argc, char** argv);

}  // namespace ccl_tests
