// The footer's answer to: is a row unlike the others?
#pragma once

#include <string>

#include "src/record/record.hpp"

namespace ccl_tests {

// Returns "no size stands out - time = 88 us + size / 1.94 GB/s fits every row within 2 %", or "no -
// ..." that names the row which stands out most, or why nothing can be said. With a ceiling, "yes - 1.92
// GB/s at 64 MiB is 93 % of this link's 2.07 GB/s (pingpong)" comes first. Empty if the run has neither
// a sweep over sizes nor a ceiling.
std::string normal_text(const RunInfo& run, const RunSummary& summary);

}  // namespace ccl_tests
