#include "src/devices/process_counters.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "src/core/clock.hpp"

namespace ccl_tests {
namespace {

Evidence process_counters() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return {};
  const auto count = [](long value) { return static_cast<std::uint64_t>(value); };
  return {count(usage.ru_minflt), count(usage.ru_majflt), count(usage.ru_nvcsw),
          count(usage.ru_nivcsw), 0};
}

struct CpuTicks {
  double busy = 0, steal = 0;
  std::size_t cpus = 0;  // that the kernel lists
};

// "cpu3 user nice system idle iowait irq softirq steal ..."
CpuTicks cpu_ticks(const std::set<int>& cpus, const std::string& root) {
  std::ifstream file(root + "/proc/stat");
  CpuTicks ticks;
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    std::istringstream words(line.substr(3));
    int cpu = 0;
    if (line.starts_with("cpu ") || !(words >> cpu) || !cpus.contains(cpu)) continue;
    double user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0;
    words >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
    ticks.busy += user + nice + system;
    ticks.steal += steal;
    ++ticks.cpus;
  }
  return ticks;
}

double seconds_of(double ticks) {
  const long per_second = ::sysconf(_SC_CLK_TCK);
  return per_second > 0 ? ticks / static_cast<double>(per_second) : 0;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

double steal_seconds(const std::set<int>& cpus, const std::string& root) {
  return seconds_of(cpu_ticks(cpus, root).steal);
}

CpuTimes cpu_times(const CounterScope& scope, const std::string& root) {
  CpuTimes times;
  times.wall = monotonic_seconds();
  const CpuTicks ticks = scope.cpus.empty() ? CpuTicks() : cpu_ticks(scope.cpus, root);
  if (ticks.cpus == scope.cpus.size()) {
    times.busy = seconds_of(ticks.busy);
    times.cpus = ticks.cpus;
  }
  rusage usage{};
  if (scope.process && ::getrusage(RUSAGE_SELF, &usage) == 0)
    times.own = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  return times;
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
