// The results of a run: what its rows add up to, and the outputs that show them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/judge/run_judge.hpp"
#include "src/options/options.hpp"
#include "src/record/reproductions.hpp"
#include "src/report/outputs.hpp"

namespace ccl_tests {

// One per process; only the process of rank 0 has reporters. Thread-safe: rows come from a rank's thread,
// finish() possibly from the one that learned of a failure.
class RunResults {
 public:
  explicit RunResults(const Options& options)
      : judge_(options), digests_path_(options.check.digests) {}
  // Called before begin().
  void add(std::unique_ptr<Reporter> reporter) { outputs_.add(std::move(reporter)); }
  // Makes another process write the run's end if this one is killed. After add(), before there are threads.
  void survive_kills() { outputs_.keep_crash_footer(if_killed()); }
  // Tells what this process does, for the end that another process writes. Waits for nobody.
  void doing(std::string_view what) { outputs_.doing(what); }
  // Opens the file of --digests and reads that of --baseline. Before begin(). Throws UsageError.
  void read_earlier_runs();
  // Sets what is called before anything is printed on stdout.
  void before_print(std::function<void()> action) { before_print_ = std::move(action); }

  // Throws UsageError if the baseline's run measured something else.
  void begin(const RunInfo& run);
  // requested: the size that the sweep asked for, which Row::bytes may have been rounded down from.
  // A row of one pass (Row::pass) is for files alone, and has its place in the sweep. The row that stands
  // for all passes follows the last one's, or what there is of it the end of the run.
  void row(const Row& row, std::size_t requested, RowPlace place = {});
  // Counts what checking one of the job's first calls found, as if `row` were its own.
  void first_call(const Row& row, std::size_t requested);
  // Sets what was measured after the last row, as far as it is known. Of rank 0.
  void after_rows(const AfterRows& found);
  // Returns what the rows so far add up to.
  RunSummary so_far() const;

  // Returns the exit code that rows and limits give, when all rows are there; 0: passed.
  int verdict();

  // Closes the files with the summary; the first call counts. failure: exit code of a run that did
  // not reach its end (0: it did) and why. activity: what this process did then. Returns the run's exit code.
  int finish(int failure, const std::vector<std::string>& errors, const std::string& activity = {});
  // Returns after finish() what could not be written to the end, one line each.
  std::vector<std::string> unwritten() const;
  // Returns after finish() why a run that reached its end did not pass, one line each: limits that are missed
  // or not decided, a fault that changed nothing.
  std::vector<std::string> reasons() const;

 private:
  // Returns the summary that files are to have if process 0 is killed now.
  RunSummary if_killed() const;

  mutable std::mutex mutex_;
  RunJudge judge_;
  std::string digests_path_;  // empty: none
  DigestFile digests_;
  Outputs outputs_;
  std::function<void()> before_print_ = [] {};
  std::optional<RunSummary> ended_;
  std::string lost_digests_;  // why; empty: they are kept
};

// Opens all files for results that the options name, and standard output behind them. What an earlier run has left under a
// name that is written over (--verdict, .prom) says from now on that the run has not reached its end. log: is given a line if
// the name of a file was taken. Throws UsageError.
void open_files(RunResults& results, const Options& options,
                const std::function<void(const std::string& line)>& log);

// Marks what is written over, as open_files() does, for a start that may fail before that. Throws UsageError.
void mark_unfinished(const OutputOptions& options);

}  // namespace ccl_tests
