// The CPUs that this process may use. `root`: where /proc and /sys are, for tests.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace ccl_tests {

std::string cpu_model(const std::string& root = "");

// Those that it may run on, as the kernel lists them: "0-3,8"; "unknown".
std::string allowed_cpus(const std::string& root = "");
// The numbers in such a list; none when it is not one.
std::set<int> cpus_in(const std::string& list);

// How many CPUs' time its cgroups give it; 0: no limit.
double cpu_quota(const std::string& root = "");

// Returns the bytes of the last cache that a core has for itself (L2); 1 MiB if the system does not
// say.
std::size_t core_cache_bytes();

// Returns the bytes of the largest cache of the first CPU that this process may use; 0 if the system
// does not say.
std::size_t last_cache_bytes(const std::string& root = "");

}  // namespace ccl_tests
