// The cores and NUMA nodes of a host, and the one symbol of the module that finds them.
#pragma once

#include <set>
#include <vector>

namespace ccl_tests {

struct CpuCore {
  int node = 0;        // NUMA node that is next to it
  std::set<int> cpus;  // its hardware threads that the process may use; never empty
};

// The module exports ccl_module_abi (src/core/backend.hpp) and, with C linkage, ccl_module_cores(),
// which replaces its argument by the cores that this process may use, in hwloc's order, in which
// neighbours share caches. It throws Error.
using ModuleCores = void (*)(std::vector<CpuCore>&);

}  // namespace ccl_tests
