// What the rows of a run say about its speed limits. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/options/limits.hpp"
#include "src/report/record.hpp"

namespace ccl_tests {

// A line each.
struct LimitFindings {
  std::vector<std::string> missed;
  std::vector<std::string> undecided;  // the limit lies within the time's interval
};
// interval: a limit is missed if all of the time's interval lies beyond, and undecided if it lies
// within; without an interval the time is judged. fast: the 10th percentile of the stamps is judged,
// where ranks wait for CPUs and no other number repeats (docs/METHOD.md).
enum class JudgedBy { interval, fast };

// Holds both placements of a row to the limits of its size. requested: the size that the sweep asked for; Row::bytes may have been
// rounded down from it. moments: half of the interval of times at other moments of the run, over them
// (Repeatability::half_width()).
LimitFindings held_to(const Limits& limits, const Row& row, std::size_t requested,
                      JudgedBy judged_by = JudgedBy::interval, double moments = 0);

// Returns one line for each limit whose size is not among the requested sizes of the rows.
std::vector<std::string> unmeasured(const Limits& limits, const std::set<std::size_t>& measured);

// Returns nullopt if no average is required. The limit has nccl-tests' slack of 10 %.
std::optional<bool> average_suffices(const Limits& limits, double average_busbw);

}  // namespace ccl_tests
