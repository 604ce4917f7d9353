// How many ranks the CPUs are enough for, and whether the ranks of a job have the CPUs that their times take
// for granted.
#pragma once

#include <string>
#include <vector>

#include "src/core/backend.hpp"
#include "src/job/rank_table.hpp"

namespace ccl_tests {

// Returns how many CPUs' time this process has: those that it may run on, or less by its cgroups' quota.
double own_cpus();

// Returns the ranks that a program starts by itself, on `cpus` CPUs: as many as have a CPU for each of their
// busy threads, 2 at least and 4 at most.
int default_threads(double cpus, const Backend& backend);

// A line for the header that names the machine whose ranks are shortest of CPUs; empty when all
// have enough.
std::string cpu_shortage(const std::vector<RankIdentity>& ranks, const Backend& backend);

}  // namespace ccl_tests
