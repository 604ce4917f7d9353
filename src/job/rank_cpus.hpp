// The CPUs of ranks: where they are bound, and whether they are enough for the busy threads.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "src/bootstrap/launch.hpp"
#include "src/core/backend.hpp"
#include "src/devices/host_limits.hpp"
#include "src/job/rank_table.hpp"

namespace ccl_tests {

// These return the CPUs of each of `ranks` ranks that share `cores` or `cpus`, in rank order. Pure.
// `cores` must not be empty.
//
// All allowed CPUs of one NUMA node; consecutive ranks share a node.
std::vector<std::set<int>> bind_to_nodes(const std::vector<CpuCore>& cores, int ranks);
// As many whole cores as a rank has busy threads, of one NUMA node if each node has enough for its
// ranks. Returns nothing if there are fewer cores than threads.
std::vector<std::set<int>> bind_to_cores(const std::vector<CpuCore>& cores, int ranks, int threads);

// An even share of the CPUs where ranks of several busy threads have fewer CPUs than threads. Returns
// nothing if each thread has a CPU, a rank has one thread, or the CPUs cannot be shared evenly.
std::vector<std::set<int>> bind_where_short(const std::set<int>& cpus, int ranks, int threads);

// Binds the calling thread, which is `rank`'s; threads that it starts inherit that. how: "short",
// "numa" or "auto". threads: busy ones of a rank. Ranks that share a machine and a mask share its CPUs.
// Returns the CPUs as a list, "0-3,8"; empty: not bound, as the functions above say. "short": threads
// that wait for each other (Gloo's) have one of several speeds, by which of them share a CPU; bound,
// they always have the same. Throws Error, and but for "short" Unsupported without the module of hwloc.
std::string bind_rank(const RankTable& table, int rank, const std::string& how, int threads);

// Returns "0-3,8".
std::string cpu_list(const std::set<int>& cpus);

// Returns how many CPUs' time this process has: those that it may run on, or less by its cgroups' quota.
double own_cpus();

// Returns the ranks that a program starts by itself, on `cpus` CPUs: as many as have a CPU for each of
// their busy threads, 2 at least and 4 at most.
int default_threads(double cpus, const Backend& backend);

// A line for the header that names the machine whose ranks are shortest of CPUs; empty when all
// have enough. loads: each rank has a busy thread of its own beside the library's (--beside).
std::string cpu_shortage(const std::vector<RankIdentity>& ranks, const Backend& backend,
                         bool loads = false);

// Returns what to type so that the launcher lets each process of the first rank's machine use more
// CPUs; empty: nothing is known to help. Pure.
std::string more_cpus(const std::vector<RankIdentity>& ranks, const std::string& launcher,
                      const Environment& environment);

}  // namespace ccl_tests
