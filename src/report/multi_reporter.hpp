// Collects a run's rows: hands them to the reporters, keeps the summary, holds the rows to their
// limits. One per process; only the process of rank 0 has reporters.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/judge/digest_file.hpp"
#include "src/judge/late_ranks.hpp"
#include "src/judge/limit_judge.hpp"
#include "src/judge/passes.hpp"
#include "src/judge/sweep_fits.hpp"
#include "src/measure/width_tally.hpp"
#include "src/options/options.hpp"
#include "src/record/local_time.hpp"
#include "src/report/headline.hpp"
#include "src/report/outputs.hpp"

namespace ccl_tests {

// Of rank 0's calls; failed_checks: as RunSummary's.
struct CallCounts {
  std::uint64_t calls = 0, verified_calls = 0, failed_checks = 0;
};

// Thread-safe: rows come from a rank's thread, finish() possibly from the one that learned of a
// failure.
class MultiReporter {
 public:
  explicit MultiReporter(const Options& options)
      : options_(options),
        limits_(options.limits, options.sweep.cycles == 0),
        passes_(options.sweep.passes, options.measure.precision) {}
  // Before begin().
  void add(std::unique_ptr<Reporter> reporter) { outputs_.add(std::move(reporter)); }
  // Behind add(), before there are threads: another process writes the run's end if this one is killed.
  void survive_kills();
  // What this process does, for the end that another process writes. Thread-safe, and waits for nobody.
  void doing(std::string_view what) { outputs_.doing(what); }
  // Before begin(): the file that knows the digests of rows (--digests). Throws as DigestFile does.
  void keep_digests(const std::string& path) { digests_ = DigestFile(path); }

  // Before begin(): the earlier runs that times are held to (--baseline). Throws as Baseline does.
  void read_baseline() {
    limits_.read_baseline();
    if (std::string note = limits_.baseline_note(); !note.empty()) add_note(std::move(note));
  }

  // Called before anything is printed on stdout.
  void before_print(std::function<void()> action) { before_print_ = std::move(action); }
  // Tells what this process does, for the line about a failure.
  void activity(std::function<std::string()> text) { activity_ = std::move(text); }

  // Throws UsageError if the baseline's run measured something else.
  void begin(const RunInfo& run);
  // requested: the size that the sweep asked for, which Row::bytes may have been rounded down from.
  void row(const Row& row, std::size_t requested);
  // What checking one of the job's first calls found, which no row tells of: `row` is as if it were its own.
  void first_call(const Row& row, std::size_t requested);
  // The row of one pass, for files alone. The row that stands for all passes follows the last one's,
  // or what there is of it the end of the run.
  void pass_row(const Row& row, std::size_t requested, RowPlace place);
  void note(const std::string& line);  // a footer comment line
  // How many operations --inject has spoiled, of all ranks, and a line that says so.
  void spoiled(std::uint64_t operations, const std::string& line) {
    const std::lock_guard lock(mutex_);
    summary_.nothing_spoiled = operations == 0;
    summary_.notes.push_back(line);  // however many there are
  }
  void memory(const std::string& line);  // -M
  // The probe after the last row; that before the first one is the header's. Of rank 0.
  void core_to_core(std::optional<double> seconds);

  // What times say that were measured again after the last row. Of rank 0.
  void repeats(const std::optional<Repeatability>& found);

  // What a run of a given time showed. Of rank 0.
  void soak(const std::optional<Soak>& found);
  // Returns what there is so far.
  CallCounts counts() const;

  // Returns the exit code that rows and limits give, when all rows are there; 0: passed.
  int verdict();

  // Closes the files with the summary; the first call counts. failure: exit code of a run that did
  // not reach its end (0: it did) and why. Returns the run's exit code.
  int finish(int failure, const std::vector<std::string>& errors);
  // After finish(): what could not be written to the end, one line each.
  std::vector<std::string> unwritten() const;
  // After finish(): why a run that reached its end did not pass, one line each: limits that are missed
  // or not decided, a fault that changed nothing.
  std::vector<std::string> reasons() const {
    const std::lock_guard lock(mutex_);
    auto lines = ccl_tests::limit_lines(summary_.limits, LimitVerdict::missed);
    for (auto& line : ccl_tests::limit_lines(summary_.limits, LimitVerdict::undecided))
      lines.push_back(std::move(line));
    if (summary_.nothing_spoiled) lines.emplace_back(nothing_spoiled);
    return lines;
  }

 private:
  void account(const Row& row, std::size_t requested);
  void account_rest();
  Row completed(const Row& row, std::exception_ptr& undigested);
  double average_busbw() const;
  RunSummary if_killed() const;
  void add_note(std::string line);
  void add_times(const Row& row, std::size_t requested);
  void add_width(std::optional<double> half_width, std::string place);
  void count_calls(const Row& row);
  void add_wrong(const Row& row, std::size_t requested, std::string_view placement,
                 const Measurement& cell);
  void judge_end();
  bool varies() const { return summary_.reproduction && summary_.reproduction->varying > 0; }
  bool has(LimitVerdict verdict) const {  // of any limit
    return !ccl_tests::limit_lines(summary_.limits, verdict).empty();
  }
  bool is_undecided() const { return has(LimitVerdict::undecided) || summary_.nothing_spoiled; }
  int judged() const;
  void conclude(int failure, const std::vector<std::string>& errors);

  Options options_;
  Outputs outputs_;
  std::function<void()> before_print_ = [] {};
  std::function<std::string()> activity_ = [] { return std::string(); };
  mutable std::mutex mutex_;
  RunSummary summary_;
  WidthTally widths_;
  double busbw_sum_ = 0;
  std::size_t busbw_cells_ = 0;
  std::size_t capped_rows_ = 0;
  std::size_t weakest_bytes_ = 0;  // largest row that does not cover all ranks
  double weakest_coverage_ = 1;
  RunInfo run_;
  std::vector<Row> pair_rows_;
  LimitJudge limits_;
  LateRanks late_ranks_;
  DigestFile digests_;
  std::vector<std::string> undigested_;  // why they are lost
  PassRows passes_;
  std::vector<Row> rest_;         // of passes that did not come to their end
  bool fits_ = false;             // rows are sweeps whose times a line may describe
  std::vector<TimedCell> cells_;  // if fits_
  bool begun_ = false, judged_ = false, finished_ = false;
};

}  // namespace ccl_tests
