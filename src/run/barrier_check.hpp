// The barrier of all ranks before rows, and the check of barrier_perf.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/core/clock.hpp"
#include "src/core/communicator.hpp"
#include "src/job/rank.hpp"
#include "src/measure/workload.hpp"
#include "src/options/rank_groups.hpp"
#include "src/run/operation_workload.hpp"
#include "src/run/rank_report.hpp"

namespace ccl_tests {

// Where all ranks of a job begin a block together.

// Over all ranks, whatever group they are in.
class WorldBarrier : public Barrier {
 public:
  // world: outlives it.
  WorldBarrier(Communicator& world, Rank& rank)
      : world_(world), activity_(rank.activity()), self_{rank.rank(), rank.ranks()} {}
  void wait() override {
    inside_library(activity_, [&] { world_.timing_barrier(self_); });
  }

 private:
  Communicator& world_;
  Activity& activity_;
  GroupRank self_;
};

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
