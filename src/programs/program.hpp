// X_perf from its first line to its exit code.
#pragma once

namespace ccl_tests {

struct Collective;

// Returns the exit code.
int run_program(const Collective& collective, int argc, char** argv);

}  // namespace ccl_tests
