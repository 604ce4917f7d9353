// The formats behind file_reporter. A write that fails throws Error naming the file.
#pragma once

#include <memory>

#include "src/report/output_file.hpp"
#include "src/report/reporter.hpp"

namespace ccl_tests {

// One JSON object a line: a header, the rows, a footer, told apart by their "type".
std::unique_ptr<Reporter> json_lines_reporter(OutputFile file);

// nccl-tests' JSON file, version 3: one document, valid after every row. Before the end it has no
// "out_of_bounds" and says in "errors" that the run did not reach its end.
std::unique_ptr<Reporter> nccl_json_reporter(OutputFile file);

// A line of column names, then a line per row with the run's settings repeated on it.
std::unique_ptr<Reporter> csv_reporter(OutputFile file);

}  // namespace ccl_tests
