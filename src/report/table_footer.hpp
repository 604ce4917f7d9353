// The lines below the rows of the table.
#pragma once

#include <string>

#include "src/record/record.hpp"

namespace ccl_tests {

// Returns nccl-tests' three lines for a run that reached its end, and none of them but "Test
// failure" for one that did not: scripts decide by these words. Then the run's notes and the
// answers to: is it right, how far can it be relied on, what next?
std::string footer_text(const RunInfo& run, const RunSummary& summary);

// Returns the line "# Test failure: ..." of a run that is not complete.
std::string failure_text(const RunSummary& summary);

}  // namespace ccl_tests
