// The CPUs and the memory that the host and its control groups leave to this process.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "src/core/device.hpp"

namespace ccl_tests {

// One core of the host.
struct CpuCore {
  int node = 0;        // NUMA node that is next to it
  std::set<int> cpus;  // its hardware threads that the process may use; never empty
};

// The module for --bind exports ccl_module_abi (src/core/backend.hpp) and, with C linkage,
// ccl_module_cores(), which replaces its argument by the cores that this process may use, in
// hwloc's order, in which neighbours share caches. It throws Error.
using ModuleCores = void (*)(std::vector<CpuCore>&);

// Returns the value after "key:" or "key " in a file of such lines.
std::optional<std::string> value_of(const std::string& path, const std::string& key);

// Return the model of this host's CPUs, and those that this process may run on, as the kernel lists
// them: "0-3,8"; "unknown". `root`: where /proc and /sys are, for tests.
std::string cpu_model(const std::string& root = "");
std::string allowed_cpus(const std::string& root = "");
// The numbers in such a list; none when it is not one.
std::set<int> cpus_in(const std::string& list);

// Returns how many CPUs' time its cgroups give it; 0: no limit.
double cpu_quota(const std::string& root = "");

// Returns the bytes of the last cache that a core has for itself (L2); 1 MiB if the system does not
// say.
std::size_t core_cache_bytes();

// Returns the bytes of the largest cache of the first CPU that this process may use; 0 if the
// system does not say.
std::size_t last_cache_bytes(const std::string& root = "");

// Returns page-aligned zeroed memory. Pages cost nothing until they are touched. Throws Error.
Buffer host_buffer(std::size_t bytes);

// Returns the bytes that this host can still give to the job: the smaller of MemAvailable and what
// the cgroups above this process leave. Caches that the kernel gives back are not used memory.
std::size_t available_memory(const std::string& root = "");

}  // namespace ccl_tests
