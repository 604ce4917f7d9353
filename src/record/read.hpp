// Results files, read back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

struct RecordedRun {
  RunInfo info;
  std::vector<Row> rows;
  std::optional<RunSummary> summary;  // absent: the process was killed
};

// Reads a .jsonl file of schema 2, which may hold several runs one after the other. A last line
// that a killed process left unfinished is skipped. Throws Error that names the path and the line.
std::vector<RecordedRun> read_runs(const std::string& path);

}  // namespace ccl_tests
