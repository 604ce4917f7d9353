// The lines below the rows of the table.
#pragma once

#include <string>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

// Returns nccl-tests' three lines for a run that reached its end, and none of them but "Test
// failure" for one that did not: scripts decide by these words. Then the run's notes and the
// answers to: is it right, how far can it be relied on, what next?
std::string footer_text(const RunInfo& run, const RunSummary& summary);

// Returns what to do after a wait, by what was seen of peers. on_links: if they are on several hosts.
std::string advice_on_a_wait(const std::vector<std::string>& errors, bool on_hosts,
                             const std::string& on_links =
                                 "see if large packets pass between the "
                                 "hosts (ping -M do -s 8972 HOST; ip link shows the MTU)");

// Returns whether a row is unlike the others: "no size stands out - time = 88 us + size / 1.94 GB/s
// fits every row within 2 %", or "no - ..." that names the row which stands out most, or why nothing
// can be said. With a ceiling, "yes - 1.92 GB/s at 64 MiB is 93 % of this link's 2.07 GB/s
// (pingpong)" comes first. Empty if the run has neither a sweep over sizes nor a ceiling.
std::string normal_text(const RunInfo& run, const RunSummary& summary);

// Returns the line "# Test failure: ..." of a run that is not complete.
std::string failure_text(const RunSummary& summary);

}  // namespace ccl_tests
