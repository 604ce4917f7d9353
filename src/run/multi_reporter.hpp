// Collects a run's rows: hands them to the reporters, keeps the summary, judges the limits. One per
// process; only the process of rank 0 has reporters.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "src/options/options.hpp"
#include "src/report/reporter.hpp"

namespace ccl_tests {

// Thread-safe: rows come from a rank's thread, finish() possibly from the one that learned of a
// failure.
class MultiReporter {
 public:
  MultiReporter(const Options& options, std::vector<std::unique_ptr<Reporter>> reporters);

  // Called before anything is printed on stdout.
  void before_print(std::function<void()> action) { before_print_ = std::move(action); }

  void begin(const RunInfo& run);
  // requested: the size that the sweep asked for, which Row::bytes may have been rounded down from.
  void row(const Row& row, std::size_t requested);
  void note(const std::string& line);    // a footer comment line
  void memory(const std::string& line);  // -M

  // Closes the files with the summary; the first call counts. failure: exit code of a run that did
  // not reach its end (0: it did) and why. Returns the run's exit code.
  int finish(int failure, const std::vector<std::string>& errors);
  // After finish(): what could not be written to the end, one line each.
  const std::vector<std::string>& unwritten() const { return unwritten_; }

 private:
  void judge_sizes(const Row& row, std::size_t requested);
  void judge_end();
  void sum_up_pairs();

  const Options& options_;
  std::vector<std::unique_ptr<Reporter>> reporters_;
  std::function<void()> before_print_ = [] {};
  std::mutex mutex_;
  RunSummary summary_;
  double busbw_sum_ = 0;
  std::size_t cells_ = 0, capped_rows_ = 0;
  std::size_t weakest_bytes_ = 0;  // largest row that does not cover all ranks
  double weakest_coverage_ = 1;
  std::set<std::size_t> measured_;
  std::vector<std::string> hosts_;  // by rank
  std::vector<Row> pair_rows_;
  std::vector<std::string> unwritten_;
  bool begun_ = false, finished_ = false, too_slow_ = false;
};

// "2026-11-20 22:33:44", local time.
std::string local_time();

}  // namespace ccl_tests
