// A finished comparison: what the table and the files show, and the exit code.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
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
// undecided. Hints always pass. With --aa: too_slow if any difference was confirmed, otherwise the same.
Summary summary(const Report& report);

// Returns the name of RowResult::ratio. One pair has one ratio; the median ratio of several is not that of the times.
std::string_view ratio_name(const Report& report);

// Returns a line that says what the columns and verdicts mean.
std::string legend(const Report& report);

// Returns what to do next. Empty: nothing.
std::string next_step(const Report& report);

// Returns whether the row fails a gate: slower, or with --aa any confirmed difference.
bool failed(const Report& report, const RowResult& row);

// Returns the report's notes and the comparison's, a line each.
std::vector<std::string> all_notes(const Report& report);

}  // namespace ccl_tests::compare
