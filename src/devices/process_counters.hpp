// Reads what the kernel counts of a process and of CPUs. `root`: where /proc is, for tests.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "src/measure/estimate.hpp"

namespace ccl_tests {

// Returns the seconds that a hypervisor has taken from these CPUs since the host started, in ticks
// of 10 ms; 0 if the kernel does not say.
double steal_seconds(const std::set<int>& cpus, const std::string& root = "");

// The part of a job that one rank counts, so that nothing is counted twice: threads of a process
// share its counters, since a library's own threads count too; processes of a host share its CPUs.
struct CounterScope {
  bool process = false;  // this rank counts its process's faults and switches
  std::set<int> cpus;    // whose steal this rank counts; empty: none
};

// Seconds of CPU time, since any moment.
struct CpuTimes {
  double own = 0;   // that this process and its threads have used
  double busy = 0;  // that programs ran on these CPUs, in ticks of 10 ms; interrupts are nobody's
  double wall = 0;  // that have passed
  std::size_t cpus = 0;  // that busy is of: all of scope.cpus, or none if the kernel leaves one out
};
// Returns what is counted until now. own: only of a process that counts; busy: of scope.cpus.
CpuTimes cpu_times(const CounterScope& scope, const std::string& root = "");

// Counts events of timed blocks. Used by the rank's thread.
class EventCounters {
 public:
  explicit EventCounters(CounterScope scope) : scope_(std::move(scope)) {}

  // Off the clock, before a block's first barrier: opens a file.
  void prepare();
  // Directly before the clock starts: one system call.
  void begin();
  // Off the clock. Returns what happened since: steal since prepare(), the rest since begin().
  Evidence end();

 private:
  CounterScope scope_;
  Evidence first_;
};

// Returns this process's resident bytes; 0 where the kernel does not say.
std::size_t resident_bytes();

}  // namespace ccl_tests
