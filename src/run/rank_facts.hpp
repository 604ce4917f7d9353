// What each rank says of its process and host, and what of it not all ranks say.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/job/rank.hpp"

namespace ccl_tests {

// Returns "NAME=value" of the variables that say how a run is measured: the libraries' settings,
// and the launcher's unless --np sets them. Sorted. Not what mpirun tells its processes alone.
std::vector<std::string> recorded_environment(bool by_np);

// Returns whether a launcher sets "NAME=value" for each job or process anew.
bool is_of_launcher(std::string_view variable);

// The facts of one rank, by name: "CPUs", "kernel", "NCCL_ALGO".
using RankFacts = std::map<std::string, std::string>;

// Returns a line for each fact that ranks do not share: "NCCL_ALGO: rank 0: Ring, ranks 1-3: not
// set". ranks: in rank order. Pure.
std::vector<std::string> differences(const std::vector<RankFacts>& ranks);

// Returns those of this job's ranks, on rank 0. Collective. Throws Error, Timeout.
std::vector<std::string> rank_differences(Rank& rank);

}  // namespace ccl_tests
