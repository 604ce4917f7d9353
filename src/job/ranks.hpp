// The ranks of one process: started, watched, and ended together.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/bootstrap/control.hpp"
#include "src/job/failure_box.hpp"
#include "src/job/rank.hpp"

namespace ccl_tests {

// What a program does on each of its ranks. Returns the exit code of the rank's process, which is
// the same on all ranks. Collective.
using RankBody = std::function<int(Rank& rank)>;

// How the ranks of a process ended.
struct RanksEnd {
  int failure = 0;    // exit code of the failure that ended the job; 0: all ranks reached their end
  int exit_code = 0;  // otherwise: what the ranks returned
  std::vector<std::string> errors = {};   // why the job failed
  bool lost_process_0 = false;            // its connection broke: it says nothing any more
  std::vector<int> gone = {}, late = {};  // ranks, as in Failure
};

// Writes what remains to be written in this process, and returns the exit code. Called exactly once,
// on another thread than the ranks' after a failure, before anything is waited for.
using WriteEnd = std::function<int(const RanksEnd& end)>;

// Runs `body` on this process's ranks: on the calling thread if there is one rank, otherwise each on
// a thread of its own. Collective over the job's processes. A failure of any rank, peer or signal
// ends all of them: written by write_end, printed once by process.log, told to the control plane. If
// a rank is stuck inside the library after that, this process ends. activity: of the first rank.
// Does not throw for failures of ranks. Returns the exit code; `end`: how it came about.
int run_ranks(const Process& process, Control& control, FailureBox& failure, Activity& activity,
              const RankBody& body, const WriteEnd& write_end, RanksEnd& end);

}  // namespace ccl_tests
