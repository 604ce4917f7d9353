// The footer's answer to: is a row unlike the others?
#pragma once

#include <string>

#include "src/report/record.hpp"

namespace ccl_tests {

// Returns "no size stands out - time = 88 us + size / 1.94 GB/s fits every row within 2 %", or "no -
// ..." that names the row which stands out most, or why nothing can be said. Empty if the run has no
// sweep over sizes.
std::string normal_text(const RunSummary& summary);

}  // namespace ccl_tests
