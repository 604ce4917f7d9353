// What the rows of a run say about its speed limits. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/options/limits.hpp"
#include "src/report/record.hpp"

namespace ccl_tests {

// Returns one line for each limit that the row misses, of both placements. requested: the size that
// the sweep asked for; Row::bytes may have been rounded down from it.
std::vector<std::string> missed_by(const Limits& limits, const Row& row, std::size_t requested);

// Returns one line for each limit whose size is not among the requested sizes of the rows.
std::vector<std::string> unmeasured(const Limits& limits, const std::set<std::size_t>& measured);

// Returns nullopt if no average is required. The limit has nccl-tests' slack of 10 %.
std::optional<bool> average_suffices(const Limits& limits, double average_busbw);

}  // namespace ccl_tests
