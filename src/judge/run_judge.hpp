// Adds up what a run's rows show together, and holds them to their limits.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/judge/late_ranks.hpp"
#include "src/judge/limit_judge.hpp"
#include "src/judge/passes.hpp"
#include "src/measure/repeatability.hpp"
#include "src/options/options.hpp"
#include "src/record/record.hpp"

namespace ccl_tests {

// The times of one type, operation, root and placement that a fit may describe.
struct SweepTimes {
  SweepFit of;                  // without its result
  std::set<std::size_t> sizes;  // also those of times that are left out
  std::vector<SizeTime> times;
};

// Adds the row's times to their sweeps. The sigma of a time is its interval's half width over 1.96,
// at least 1 %, and 3 % for batches. A time is left out if its half width is above 15 % or not
// known. In-place cells that repeat the out-of-place ones have no time of their own.
void add_times(std::vector<SweepTimes>& sweeps, const Row& row);

// Returns a fit for each sweep with several sizes, in order.
std::vector<SweepFit> sweep_fits(const std::vector<SweepTimes>& sweeps);

// Used by one thread at a time. Rows: see RunResults::row().
class RunJudge {
 public:
  explicit RunJudge(const Options& options)
      : options_(options),
        limits_(options.limits, options.sweep.cycles == 0),
        passes_(options.sweep.passes, options.measure.precision) {}

  // Reads the file of --baseline. Before begin(). Throws UsageError.
  void read_baseline();
  // Throws UsageError if the baseline's run measured something else.
  void begin(const RunInfo& run);

  // Sets what the header says of a row.
  void complete(Row& row) const;
  // Returns the header; nullopt before the run begins.
  const std::optional<RunInfo>& run() const { return run_; }
  // Returns the rows to write: this one, and after the last pass the one that stands for all.
  std::vector<Row> add(const Row& row, std::size_t requested, RowPlace place);
  // Counts one of the job's first calls, which no row tells of.
  void add_first_call(const Row& row, std::size_t requested);
  // Returns the rows of passes that did not come to their end, and counts them.
  std::vector<Row> add_rest();
  // Sets what was measured after the last row.
  void set(const AfterRows& found) { static_cast<AfterRows&>(summary_) = found; }

  // Returns the exit code that rows and limits give when all rows are there. 0: passed.
  int verdict();
  // Returns the summary of the run's end. failure: exit code of a run that did not reach its end
  // (0: it did), errors: why. activity: what this process did then.
  RunSummary conclude(int failure, const std::vector<std::string>& errors,
                      const std::string& activity);
  // Returns the summary of a process that is killed before the next row.
  RunSummary if_killed(std::string_view failure) const;
  // Returns what the rows so far add up to.
  const RunSummary& so_far() const { return summary_; }

 private:
  // Sums that the summary has in another form.
  struct Sums {
    WidthTally widths;
    std::map<std::size_t, bool>
        sure_sizes;  // whether all times of a size are within WidthTally::wide
    double busbw = 0;
    std::size_t cells = 0;
    std::size_t capped_rows = 0;
    std::size_t weakest_bytes = 0;  // largest row that does not cover all ranks
    double weakest_coverage = 1;
  };

  void add_to_all(Row& row, std::size_t requested);
  void add_wrong(const Row& row, std::size_t requested, std::string_view placement,
                 const Measurement& cell);
  void add_time(const Row& row, bool in_place, std::size_t requested, const Measurement& cell);
  void judge_end();
  double average_busbw() const;
  int judged() const;

  Options options_;
  std::optional<RunInfo> run_;
  RunSummary summary_;
  Sums sums_;
  LimitJudge limits_;
  PassRows passes_;
  LateRanks late_ranks_;
  std::vector<Row> pair_rows_;
  std::vector<SweepTimes> sweeps_;
  bool judged_ = false;
};

}  // namespace ccl_tests
