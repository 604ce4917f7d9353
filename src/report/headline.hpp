// A run in one line, for those who read no more.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "src/record/record.hpp"

namespace ccl_tests {

// What Node Problem Detector keeps of a plugin's output (and what a pager shows).
inline constexpr std::size_t headline_bytes = 80;

// Of a run whose --inject has changed no byte.
inline constexpr std::string_view nothing_spoiled =
    "--inject spoiled nothing: this run does not show that faults are found";

// "all_reduce_perf: 24 rows right, peak 12.3 GB/s at 64 MiB", "all_reduce_perf: too slow: 8 B float
// ...". Not cut.
std::string headline(const RunInfo& run, const RunSummary& summary);

}  // namespace ccl_tests
