// What main() of a collective's programs calls. Includes nothing: every program compiles it.
#pragma once

namespace ccl_tests {

struct Collective;

// X_perf and init_perf. Returns the exit code.
int run_program(const Collective& collective, int argc, char** argv);

// X_perf on simulated ranks. Collective over them; returns the exit code.
int run_simulated_program(const Collective& collective, int argc, char** argv);

}  // namespace ccl_tests
