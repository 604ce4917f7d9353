// init_perf: how long a job takes to start.
#pragma once

#include "src/core/collective.hpp"

namespace ccl_tests {

// What init_perf is called and offers. It is no collective and moves 8 bytes.
extern const Collective init_spec;

// From the program's first line to its exit code, which it returns.
int run_init_program(int argc, char** argv);

}  // namespace ccl_tests
