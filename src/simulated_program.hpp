// The program from top to bottom under a simulator, whose ranks share one thread: no control plane,
// no watchdog, no signals, no heartbeat.
#pragma once

namespace ccl_tests {

struct Collective;

// Collective over the simulated ranks; returns the exit code.
int run_simulated_program(const Collective& collective, int argc, char** argv);

}  // namespace ccl_tests
