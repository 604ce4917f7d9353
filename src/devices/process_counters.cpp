#include "src/devices/process_counters.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

namespace ccl_tests {
namespace {

Evidence process_counters() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return {};
  const auto count = [](long value) { return static_cast<std::uint64_t>(value); };
  return {count(usage.ru_minflt), count(usage.ru_majflt), count(usage.ru_nvcsw),
          count(usage.ru_nivcsw), 0};
}

}  // namespace

// "cpu3 user nice system idle iowait irq softirq steal ..."
double steal_seconds(const std::set<int>& cpus, const std::string& root) {
  constexpr int before_steal = 7;
  std::ifstream file(root + "/proc/stat");
  double ticks = 0;
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    int cpu = 0;
    if (line.starts_with("cpu ") || !(words >> cpu) || !cpus.contains(cpu)) continue;
    double number = 0;
    for (int k = 0; k < before_steal; ++k) words >> number;
    if (words >> number) ticks += number;
  }
  const long per_second = ::sysconf(_SC_CLK_TCK);
  return per_second > 0 ? ticks / static_cast<double>(per_second) : 0;
}

void EventCounters::prepare() {
  if (!scope_.cpus.empty()) first_.steal_s = steal_seconds(scope_.cpus);
}

void EventCounters::begin() {
  if (!scope_.process) return;
  const double steal_s = first_.steal_s;
  first_ = process_counters();
  first_.steal_s = steal_s;
}

Evidence EventCounters::end() {
  Evidence now = scope_.process ? process_counters() : Evidence();
  if (!scope_.cpus.empty()) now.steal_s = steal_seconds(scope_.cpus);
  return now - first_;
}

std::size_t resident_bytes() {
  std::size_t size = 0, resident = 0;  // pages
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace ccl_tests
