// The header of a run, as data.
#pragma once

#include <string>
#include <vector>

#include "src/run/memory_limit.hpp"
#include "src/run/rank_identity.hpp"
#include "src/run/rank_job.hpp"

namespace ccl_tests {

// "8 processes on 2 hosts, 4 on each", "2 threads of 1 process on 1 host".
std::string placement(const std::vector<RankIdentity>& ranks, int processes);

// What is known once the ranks have met and their library is connected. gpu: rank 0's, null where
// none is used; left_out: lines about what is not measured.
RunInfo describe(const RankJob& job, const std::vector<RankIdentity>& ranks,
                 const RankGroups& groups, const std::vector<PairRound>& rounds,
                 const SizePlan& plan, const Communicator& communicator, const Device* gpu,
                 const std::vector<std::string>& left_out);

}  // namespace ccl_tests
