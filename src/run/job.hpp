// One process of a job: starts its ranks on threads, watches them, ends all of them together.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/bootstrap/control.hpp"
#include "src/bootstrap/launch.hpp"
#include "src/core/backend.hpp"
#include "src/core/collective.hpp"
#include "src/options/options.hpp"
#include "src/run/progress.hpp"
#include "src/run/rank_job.hpp"
#include "src/run/recorder.hpp"

namespace ccl {

// Where a failure is announced, by whatever thread learns of it first; the job's main thread waits
// for it.
class FailureBox {
 public:
  FailureBox();
  ~FailureBox();
  FailureBox(const FailureBox&) = delete;
  FailureBox& operator=(const FailureBox&) = delete;

  // All thread-safe. A failure that is expected is being explained, and will be put.
  void expect();
  void put(Failure failure);  // the first one counts
  bool failed() const;
  Failure value() const;

  // Waits until put(), or until `ranks` have called finished() and no failure is expected; true: a
  // failure came.
  bool wait_for_end(int ranks);
  // After a failure: true when all ranks have called finished() within limit_s.
  bool wait_for_ranks(int ranks, double limit_s);
  void finished();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct Job {
  const Collective& collective;
  const Options& options;
  std::vector<std::string> arguments;  // as given, for the files
  const Launch& launch;
  const Backend& backend;
  const Placement& placement;
  Control& control;
  FailureBox& failure;
  Recorder& recorder;
  Progress& progress;
  std::vector<std::string> notes;  // header comment lines that are known before the ranks meet
  std::function<void(const std::string&)> log;  // a line for stderr
  RankBody body = run_rank;
  double started_s = 0;  // CLOCK_MONOTONIC at the program's first line
};

struct JobEnd {
  int exit_code = 0;
  bool failed = false;  // a rank or peer failed, or a signal came: not all ranks reached the end
  bool ranks_ended =
      true;  // false: a rank is stuck in the library; the process must end without joining it
};

// Runs this process's ranks; collective over the job's processes. Failures are printed once by
// `log`, told to the control plane, and become the exit code. Does not throw for failures of ranks.
JobEnd run_job(Job& job);

}  // namespace ccl
