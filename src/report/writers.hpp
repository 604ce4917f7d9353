// The formats behind file_reporter. A write that fails throws Error naming the file.
#pragma once

#include <memory>

#include "src/core/output_file.hpp"
#include "src/report/reporter.hpp"

namespace ccl_tests {

// One JSON object a line: a header, two lines for each row, a footer, told apart by their "type".
std::unique_ptr<Reporter> json_lines_reporter(OutputFile file);

// nccl-tests' JSON file, version 3: one document, valid from the start and after every row. Until
// end() "out_of_bounds" is not okay and "errors" says that the run did not reach its end. Throws
// Error, as begin() does.
std::unique_ptr<Reporter> nccl_json_reporter(OutputFile file);

// A line of column names, then two lines for each row with the run's settings repeated on them.
std::unique_ptr<Reporter> csv_reporter(OutputFile file);

// Documents for other tools, valid from the start and after every row: src/report/exports.
std::unique_ptr<Reporter> junit_reporter(OutputFile file);
std::unique_ptr<Reporter> google_benchmark_reporter(OutputFile file);
std::unique_ptr<Reporter> bencher_reporter(OutputFile file);
std::unique_ptr<Reporter> markdown_reporter(OutputFile file);

}  // namespace ccl_tests
