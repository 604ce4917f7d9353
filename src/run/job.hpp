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
#include "src/report/multi_reporter.hpp"
#include "src/run/failure_box.hpp"
#include "src/run/progress.hpp"
#include "src/run/rank_job.hpp"

namespace ccl_tests {

struct Job {
  const Collective& collective;
  const Options& options;
  std::vector<std::string> arguments;  // as given, for the files
  const Launch& launch;
  const Backend& backend;
  const Staging& staging;
  Control& control;
  FailureBox& failure;
  MultiReporter& recorder;
  Progress& progress;
  std::vector<Note> notes;                      // of the header, known before the ranks meet
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

}  // namespace ccl_tests
