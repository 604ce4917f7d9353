// A report as text. Pure: no function opens a file.
#pragma once

#include <string>

#include "tools/compare/report.hpp"

namespace ccl_tests::compare {

// Returns the table for stdout; its last line is "# Verdict : ...".
std::string table_text(const Report& report);
// Returns JSON lines: a header, one object a row, a footer, told apart by "type".
std::string json_text(const Report& report);
// Returns a table for a pull request.
std::string markdown_text(const Report& report);
// Returns a JUnit document: a test case for each row, a failure if the row is slower.
std::string junit_text(const Report& report);

}  // namespace ccl_tests::compare
