// A finished comparison: its exit code, and the table and files that show it. Pure: no function
// opens a file.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "src/core/error.hpp"
#include "tools/compare/interleaved.hpp"

namespace ccl_tests::compare {

struct Report {
  std::string program;
  std::string base, head;  // files, or commands
  double threshold = 0.05;
  bool hints = false;  // single runs: nothing is confirmed
  bool aa = false;     // base against itself
  bool interleaved = false;
  JudgedBy by = JudgedBy::interval;  // the number of a run that is compared
  std::vector<std::string> notes;    // before those of the comparison
  Comparison comparison;
};

struct Summary {
  std::array<std::size_t, 6> rows{};  // by RowVerdict
  std::size_t undecided = 0;          // flagged and inconclusive
  double mean_ratio = 1;              // geometric mean over the rows
  Exit code = Exit::passed;
  std::string verdict;  // the text of "# Verdict : "

  std::size_t count(RowVerdict verdict_of) const {
    return rows[static_cast<std::size_t>(verdict_of)];
  }
};

// The exit code: too_slow if a row is confirmed slower, otherwise inconclusive if a flagged row is
// undecided. Hints always pass. With --aa: too_slow if any difference was confirmed, otherwise the
// same.
Summary summary(const Report& report);

// Returns the table for stdout; its last line is "# Verdict : ...".
std::string table_text(const Report& report);
// Returns JSON lines: a header, one object a row, a footer, told apart by "type".
std::string json_text(const Report& report);
// Returns a table for a pull request.
std::string markdown_text(const Report& report);
// Returns a JUnit document: a test case for each row, a failure if the row is slower.
std::string junit_text(const Report& report);

}  // namespace ccl_tests::compare
