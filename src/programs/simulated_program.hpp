// The program from top to bottom on a simulator's ranks.
#pragma once

namespace ccl_tests {

struct Collective;

// Collective over the simulated ranks; returns the exit code.
int run_simulated_program(const Collective& collective, int argc, char** argv);

}  // namespace ccl_tests
