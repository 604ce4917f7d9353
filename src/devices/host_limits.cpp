#include "src/devices/host_limits.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

struct Cgroup {
  std::string folder;  // with '/' at its end
  bool unified;        // version 2; version 1 has other files
};

// Returns the cgroup of this process that limits what `controller` ("memory", "cpu") does, and
// those above it.
std::vector<Cgroup> cgroups(const std::string& root, const std::string& controller) {
  std::vector<Cgroup> result;
  std::ifstream file(root + "/proc/self/cgroup");  // lines of number:controllers:path
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const bool unified = controllers == ",,";
    if (!unified && controllers.find(',' + controller + ',') == std::string::npos) continue;
    const std::string top = root + "/sys/fs/cgroup" + (unified ? std::string() : '/' + controller);
    std::string folder = line.substr(second + 1);
    while (true) {
      result.push_back({top + folder + '/', unified});
      if (folder.empty() || folder == "/") break;
      folder.resize(folder.rfind('/'));
    }
  }
  return result;
}

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

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : unlimited;  // "max" and absent files
}

// Returns what the kernel takes back before it refuses memory: cached files and its own caches. A
// group's numbers include those of the groups in it.
std::size_t reclaimable_in(const Cgroup& group) {
  std::size_t bytes = 0;
  for (const char* key : {"inactive_file ", "active_file ", "slab_reclaimable "}) {
    const std::string prefix = group.unified ? "" : "total_";
    std::size_t some = 0;
    std::istringstream(value_of(group.folder + "memory.stat", prefix + key).value_or("0")) >> some;
    bytes += some;
  }
  return bytes;
}

std::size_t left_in(const Cgroup& group) {
  const auto number = [&](const char* file) { return number_in(group.folder + file); };
  // Above "high" the kernel lets processes nearly stand still.
  const std::size_t limit = group.unified ? std::min(number("memory.max"), number("memory.high"))
                                          : number("memory.limit_in_bytes");
  const std::size_t usage = number(group.unified ? "memory.current" : "memory.usage_in_bytes");
  if (limit == unlimited || usage == unlimited) return unlimited;
  const std::size_t used = usage - std::min(usage, reclaimable_in(group));
  return limit - std::min(limit, used);
}

std::size_t cgroup_memory(const std::string& root) {
  std::size_t left = unlimited;
  for (const Cgroup& group : cgroups(root, "memory")) left = std::min(left, left_in(group));
  return left;
}

// " (ulimit -v: 300000 KiB)"
std::string address_limit() {
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return fmt::format(" (ulimit -v: {} KiB)", limit.rlim_cur / 1024);
}

}  // namespace

std::optional<std::string> value_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t start = line.find_first_not_of(" \t:", key.size());
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return std::nullopt;
}

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

Buffer host_buffer(std::size_t bytes) {
  if (bytes == 0) return {};
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    throw Error(fmt::format("cannot allocate {} bytes: {}{}", bytes, std::strerror(errno),
                            address_limit()));
  return {static_cast<std::byte*>(data), bytes, [bytes](std::byte* p) { munmap(p, bytes); }};
}

std::size_t available_memory(const std::string& root) {
  std::size_t kib = 0;
  std::istringstream(value_of(root + "/proc/meminfo", "MemAvailable").value_or("0")) >> kib;
  return std::min(kib * 1024, cgroup_memory(root));
}

}  // namespace ccl_tests
