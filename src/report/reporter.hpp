// Writers of a run. Each formats records, flushes after every row, and computes nothing.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "src/core/output_file.hpp"
#include "src/record/record.hpp"

namespace ccl_tests {

// Used by one thread at a time (the caller locks). end() is called once, also for failed and
// interrupted runs, and without begin() for those that ended before all ranks had met.
class Reporter {
 public:
  virtual ~Reporter() = default;
  // Returns the file that it writes row by row; null: none.
  virtual const OutputFile* file() const { return nullptr; }
  // Returns the name of the file that it writes, row by row or at the end; empty: none.
  virtual std::string path() const { return file() != nullptr ? file()->path() : std::string(); }
  // Returns the file whose end another process writes if this one is killed. Empty: stdout.
  virtual std::string end_path() const { return path(); }
  // Throws Error if the end cannot be written, as far as can be known before.
  virtual void check() const {
    if (file() != nullptr) file()->check();
  }
  // Returns whether rows are written at the end: whether they can be is then not known before.
  virtual bool is_written_at_end() const { return false; }
  virtual void begin(const RunInfo& run) = 0;
  // Rows of single passes (Row::pass) are for files of ours; others leave them out.
  virtual void row(const Row& row) = 0;
  virtual void end(const RunSummary& summary) = 0;
  // Returns the lines that end(summary) would add now, which another process writes if this one is killed. Empty: none,
  // or the file already says that the run is not complete.
  virtual std::string end_lines(const RunSummary& /*summary*/) const { return {}; }
};

// nccl-tests' table and comment lines. The stream stays the caller's. Throws Error if it cannot be written.
std::unique_ptr<Reporter> table_reporter(std::FILE* out);

// The suffixes of file_reporter, for messages.
inline constexpr std::string_view accepted_suffixes =
    ".jsonl, .json, .csv, .xml, .md, .prom, .gbench.json or .bmf.json";

// Returns what the table calls a file of this name, which was given or taken: "JSON Lines", "JUnit".
// Empty: of no format.
std::string_view file_format(std::string_view path);

// Returns true if a file of this name is written over, under one name for all runs (.prom).
bool replaces_file(std::string_view path);

// Opens the file of the format that the suffix, in either case, names: docs/OUTPUT.md. Throws UsageError naming
// path and reason if the suffix is unknown or the path cannot be written. An existing file is never overwritten
// (but for .prom): .0, .1, ... is put before the suffix, and after .json as in nccl-tests, until the name is free.
// Reporter::path() is the name taken. Writing throws Error naming the path.
std::unique_ptr<Reporter> file_reporter(const std::string& path);

// The formats that file_reporter chooses from.

// One JSON object a line: a header, two lines for each row, a footer, told apart by their "type".
std::unique_ptr<Reporter> json_lines_reporter(OutputFile file);
// nccl-tests' JSON file, version 3: one document, valid from the start and after every row. Until
// end() "out_of_bounds" is not okay and "errors" says that the run did not reach its end.
std::unique_ptr<Reporter> nccl_json_reporter(OutputFile file);
// A line of column names, then two lines for each row with the run's settings repeated on them.
std::unique_ptr<Reporter> csv_reporter(OutputFile file);
// Documents for other tools, valid from the start and after every row: src/report/exports.
std::unique_ptr<Reporter> junit_reporter(OutputFile file);
std::unique_ptr<Reporter> google_benchmark_reporter(OutputFile file);
std::unique_ptr<Reporter> bencher_reporter(OutputFile file);
std::unique_ptr<Reporter> markdown_reporter(OutputFile file);
// Prometheus' metrics of the last run, written over those of the run before: at once and in begin() that the run is
// incomplete, in end() all else. Throws UsageError if the path cannot be written.
std::unique_ptr<Reporter> prometheus_reporter(const std::string& path);

}  // namespace ccl_tests
