// What stands above the headings of the table.
#pragma once

#include <string>

#include "src/record/record.hpp"

namespace ccl_tests {

// Returns the comment lines: nine for two ranks on CPUs, if nothing is asked for that nccl-tests
// prints a line about. At most 16 lines are about ranks.
std::string header_text(const RunInfo& run);

}  // namespace ccl_tests
