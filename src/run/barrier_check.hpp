// Whether a barrier holds: it moves no data, so it is verified by time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/core/clock.hpp"
#include "src/options/rank_groups.hpp"
#include "src/run/operation_workload.hpp"
#include "src/run/rank_report.hpp"

namespace ccl_tests {

// Calls the barrier with one rank after the other made late. Returns when this rank entered and left
// each call, as RankReport::barrier has it. Collective.
std::vector<double> enter_barriers(const Problem& problem, OperationWorkload& calls, Clock& clock);

// What is wrong with one rank's calls: how many, and the first of them.
struct EarlyLeave {
  std::size_t calls = 0;
  std::string text;
};
// Pure. ranks: enter_barriers of each rank, by one clock. Returns for each rank whether it left a
// call before the last rank had entered it.
std::vector<EarlyLeave> early_leaves(const std::vector<std::vector<double>>& ranks);

// Puts what early_leaves finds in each group into its ranks' reports. reports: of all ranks; empty on
// all ranks but the first, and left so.
void judge_barriers(const RankGroups& groups, std::vector<RankReport>& reports);

}  // namespace ccl_tests
