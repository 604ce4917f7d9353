// --np N: this process becomes the supervisor of N copies of itself on this machine.
#pragma once

#include <string>
#include <vector>

namespace ccl_tests {

// Starts `processes` copies of this executable with `arguments` (without argv[0]; the caller has
// removed --np), numbered by RANK/WORLD_SIZE/LOCAL_RANK, which meet at a socket of the supervisor
// that rank 0 inherits. All inherit stdout; stderr of each comes through line by line, prefixed
// "[rank N] ". The signals that end a run (ending_signals) are passed on. When one dies by a signal
// or fails, the others get grace_s seconds to end by themselves (they have been told over the
// control plane) and are then ended. Returns the most telling exit code; a rank killed by a signal
// counts as Exit::failed and is named on stderr.
int run_local_processes(int processes, const std::vector<std::string>& arguments,
                        double grace_s = 4.0);

}  // namespace ccl_tests
