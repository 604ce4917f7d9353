// The cores and NUMA nodes of a host.
#pragma once

#include <optional>
#include <set>
#include <vector>

namespace ccl_tests {

struct CpuCore {
  int node = 0;        // NUMA node that is next to it
  std::set<int> cpus;  // its hardware threads that the process may use; never empty
};

// Returns the cores that this process may use, in hwloc's order, in which neighbours share caches.
// Returns nullopt in a build without hwloc. Throws Error.
std::optional<std::vector<CpuCore>> cpu_topology();

}  // namespace ccl_tests
