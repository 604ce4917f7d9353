// The writers of a run: each gets the header, all rows and one end, whatever happens to the others.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/report/crash_footer.hpp"
#include "src/report/reporter.hpp"

namespace ccl_tests {

// begin() and row() are called by one thread at a time, end() possibly by another meanwhile. A reader of stdout may
// stop reading (mpirun does when it ends a job), so that a thread stays in a write: files come before stdout,
// and end() leaves out what is still being written.
class Outputs {
 public:
  // Called before begin().
  void add(std::unique_ptr<Reporter> reporter);
  // Called after add(), before there are threads: from now on another process writes what end() has not, if this one
  // is killed. if_killed: the summary that it then writes, until another one is given.
  void keep_crash_footer(const RunSummary& if_killed);
  // Tells what this process does, for the end that another process writes.
  void doing(std::string_view what) {
    if (crash_footer_) crash_footer_->doing(what);
  }
  // Returns the files that reporters write, in the order of add().
  std::vector<std::string> files() const;

  // run: has the names of the files(). Throws Error if one cannot be written.
  void begin(const RunInfo& run, const RunSummary& if_killed);
  // Gives all the row though one cannot be written; then throws the last one's Error.
  void row(const Row& row, const RunSummary& if_killed);
  // Writes `rest` and the end; first those that are written at the end alone (Reporter::is_written_at_end). What
  // cannot be written makes `summary` that of a run that failed, in all ends to come; in all ends at all, if it is a file that
  // cannot be found under its name.
  // if_killed: what files say of a run that passed if this process is killed after all.
  void end(const std::vector<Row>& rest, RunSummary& summary, const RunSummary& if_killed);
  // Returns after end() what could not be written to the end, one line each.
  const std::vector<std::string>& unwritten() const { return unwritten_; }

 private:
  struct Output {
    std::unique_ptr<Reporter> reporter;
    std::mutex writing = {};
    bool ended = false;
    OutputEnd prepared = {};
    std::int64_t unended_bytes = -1;  // of its file without its end; -1: not known
    std::string unended = {};         // what its file held then; empty: lines make the end
  };
  void end(Output& output, const std::vector<Row>& rest, int code, RunSummary& summary);
  // Makes `summary` that of a run whose output cannot be written. code: of the run before.
  void fail(const std::string& why, int code, RunSummary& summary);
  // Sets what another process writes to `output`, behind `size` bytes of its file: its end by
  // `summary`; null: `text`.
  void prepare_end(Output& output, const RunSummary* summary, std::int64_t size = -1,
                   std::string text = {});

  std::deque<Output> outputs_;  // files first
  std::vector<std::string> unwritten_;
  std::optional<CrashFooter> crash_footer_;
  std::mutex leaving_;
};

}  // namespace ccl_tests
