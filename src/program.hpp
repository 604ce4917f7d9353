// X_perf from its first line to its exit code.
#pragma once

#include "src/core/collective.hpp"

namespace ccl_tests {

// Returns the exit code.
int run_program(const Collective& collective, int argc, char** argv);

}  // namespace ccl_tests
