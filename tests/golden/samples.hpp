// Runs with every value fixed, and what each writer makes of them.
#pragma once

#include <string>
#include <vector>

#include "src/report/reporter.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests::samples {

struct Run {
  std::string name;
  RunInfo record;
  std::vector<Row> rows;
  RunSummary summary;
};

Run plain();
Run pair_rows();  // pingpong: a row for each of two pairs
Run in_place();   // -O 0: parsers of its table have to know N/A
Run stream();
Run undecided();
Run single_samples();
Run per_iteration();  // of two processes on two hosts
Run passes();
Run fits();
std::vector<Run> all();

// Those that stand in the table: all but the rows of single passes.
std::size_t shown_rows(const std::vector<Row>& rows);

std::string read(const std::string& path);
std::vector<std::string> lines(const std::string& text);
std::vector<std::string> tokens(const std::string& line);

std::string table(const Run& run);
std::string table_without_begin(const RunSummary& summary);
// What file_reporter writes into a file of this suffix.
std::string file(const Run& run, const std::string& suffix);

// Text that breaks careless writers: quotes, separators, line ends, control characters, bytes that
// are not UTF-8. Reproducible.
std::vector<std::string> odd_strings();
// plain() with `text` wherever a string from outside can stand.
Run with_text(const std::string& text);

}  // namespace ccl_tests::samples
