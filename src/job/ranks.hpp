// The ranks of one process: started, watched, and ended together; and how the process learns that its job has failed.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/bootstrap/control.hpp"
#include "src/job/rank.hpp"

namespace ccl_tests {

// The place where a failure is announced, by whatever thread learns of it first; the job's main thread waits
// for it. Thread-safe.
class FailureBox {
 public:
  // A failure is being explained, and will be put.
  void expect();
  void put(Failure failure);  // the first one counts
  // Waits until put(), or until `ranks` have called finished() and no failure is expected. Returns
  // nullopt if no failure came.
  std::optional<Failure> wait_for_end(int ranks);
  // After a failure: true when all ranks have called finished() within limit_s.
  bool wait_for_ranks(int ranks, double limit_s);
  void finished();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Failure> failure_;
  bool expected_ = false;
  int finished_ = 0;
};

// Returns what to report when `own` ended a rank of this process: what the control plane learns within
// moments, as a library's error is often the shadow of a peer's death or of a peer's timeout; `own`
// otherwise. Blocks for up to 3 s when there are other processes. Thread-safe.
Failure explain(Control& control, const Failure& own);

// The part of a program that runs on each of its ranks. Returns the exit code of the rank's process, which is
// the same on all ranks. Collective.
using RankBody = std::function<int(Rank& rank)>;

// The end of the ranks of a process.
struct RanksEnd {
  int failure = 0;    // exit code of the failure that ended the job; 0: all ranks reached their end
  int exit_code = 0;  // otherwise: what the ranks returned
  std::vector<std::string> errors = {};   // why the job failed
  bool lost_process_0 = false;            // its connection broke: it says nothing any more
  std::vector<int> gone = {}, late = {};  // ranks, as in Failure
  std::vector<std::string> gone_hosts = {};
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
