#include "src/devices/host_cpus.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "src/devices/kernel_files.hpp"

namespace ccl_tests {
namespace {

// 0: no limit.
double quota_of(const Cgroup& group) {
  double quota = 0, period = 0;  // us of CPU time in each period, us
  if (group.unified) {
    std::ifstream(group.folder + "cpu.max") >> quota >> period;  // "max 100000", "200000 100000"
  } else {
    std::ifstream(group.folder + "cpu.cfs_quota_us") >> quota;  // -1: no limit
    std::ifstream(group.folder + "cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

}  // namespace

std::string cpu_model(const std::string& root) {
  return value_of(root + "/proc/cpuinfo", "model name").value_or("CPU");
}

std::string allowed_cpus(const std::string& root) {
  return value_of(root + "/proc/self/status", "Cpus_allowed_list").value_or("unknown");
}

std::set<int> cpus_in(const std::string& list) {
  std::set<int> cpus;
  std::istringstream in(list);
  for (std::string range; std::getline(in, range, ',');) {
    std::istringstream numbers(range);
    int first = 0, last = 0;
    char dash = 0;
    if (!(numbers >> first)) continue;
    if (!(numbers >> dash >> last)) last = first;
    for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

double cpu_quota(const std::string& root) {
  double least = 0;
  for (const Cgroup& group : cgroups(root, "cpu")) {
    const double quota = quota_of(group);
    if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
  }
  return least;
}

std::size_t core_cache_bytes() {
  const long bytes = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : std::size_t{1} << 20;
}

std::size_t last_cache_bytes(const std::string& root) {
  const std::set<int> cpus = cpus_in(allowed_cpus(root));
  const std::string caches = fmt::format("{}/sys/devices/system/cpu/cpu{}/cache/index", root,
                                         cpus.empty() ? 0 : *cpus.begin());
  std::size_t largest = 0;
  for (int index = 0;; ++index) {
    std::ifstream file(fmt::format("{}{}/size", caches, index));
    std::size_t kib = 0;  // "32768K"
    if (!(file >> kib)) return largest;
    largest = std::max(largest, kib * 1024);
  }
}

}  // namespace ccl_tests
