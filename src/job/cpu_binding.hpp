// --bind: which CPUs each rank's thread may use.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "src/devices/cpu_topology.hpp"
#include "src/job/rank_table.hpp"

namespace ccl_tests {

// Both return the CPUs of each of `ranks` ranks that share `cores`, in rank order. Pure. `cores` must
// not be empty.
//
// All allowed CPUs of one NUMA node; consecutive ranks share a node.
std::vector<std::set<int>> bind_to_nodes(const std::vector<CpuCore>& cores, int ranks);
// As many whole cores as a rank has busy threads, of one NUMA node if each node has enough for its
// ranks. Returns nothing if there are fewer cores than threads.
std::vector<std::set<int>> bind_to_cores(const std::vector<CpuCore>& cores, int ranks, int threads);

// Binds the calling thread, which is `rank`'s; threads that it starts inherit that. how: "numa" or
// "auto". threads: busy ones of a rank. Ranks that share a machine and a mask share its cores.
// Returns the CPUs as a list, "0-3,8"; empty: not bound, since there are fewer cores than threads.
// Throws Unsupported without the module of hwloc, Error.
std::string bind_rank(const RankTable& table, int rank, const std::string& how, int threads);

// Returns "0-3,8".
std::string cpu_list(const std::set<int>& cpus);

}  // namespace ccl_tests
