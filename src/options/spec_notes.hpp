// Texts about the settings that only some programs take.
#pragma once

#include <string>
#include <vector>

#include "src/options/options.hpp"

namespace ccl_tests {

// Returns lines of the header: the settings that the program takes, and what the lines after a
// composite's rows mean.
std::vector<std::string> spec_notes(const Collective& collective, const CollectiveOptions& options);

// Returns a few words for the files: "skew linear, 8 objects".
std::string spec_label(const Collective& collective, const CollectiveOptions& options);

// Returns header lines: what each rank sends and receives in a row of `bytes`. Nothing unless asked for, or
// if the collective takes no NCCL_TESTS_ALLTOALLV_* variables.
std::vector<std::string> alltoallv_summary(const Collective& collective, const Options& options,
                                           int ranks, std::size_t bytes);

}  // namespace ccl_tests
