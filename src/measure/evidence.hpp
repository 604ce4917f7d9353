// The events that met the processes of a row's ranks while they were timed. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ccl_tests {

// Events of one or more processes. steal_s: CPU time that a hypervisor gave to other machines.
struct Evidence {
  std::uint64_t minor_faults = 0;  // page faults without input or output
  std::uint64_t major_faults = 0;  // that waited for a disk
  std::uint64_t yielded = 0;       // voluntary context switches: waiting for something
  std::uint64_t preempted = 0;     // involuntary ones
  double steal_s = 0;

  Evidence& operator+=(const Evidence& other);
};
// Returns what happened between two readings of counters that only grow.
Evidence operator-(const Evidence& later, const Evidence& earlier);

// The timed part of a stream that the events belong to.
struct TimedPart {
  std::size_t stamps = 0;
  double seconds = 0;     // of one rank
  std::size_t ranks = 1;  // whose events were counted
};

// Returns true if page faults are part of the time: a major one, or more than 16 minor ones that are
// also more than one for every ten stamps.
bool has_page_faults(const Evidence& events, const TimedPart& part);

// Returns true if the ranks did not have their CPUs: involuntary context switches for more than a
// tenth of the stamps and more than 5 in a second, or has_steal().
bool has_noise(const Evidence& events, const TimedPart& part);

// Returns true if a hypervisor took more than 1 % of all ranks' seconds.
bool has_steal(const Evidence& events, const TimedPart& part);

}  // namespace ccl_tests
