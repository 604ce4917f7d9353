#include "src/measure/evidence.hpp"

#include <algorithm>

namespace ccl_tests {
namespace {

// A tenth of the stamps may be wrong before the 10th and 90th percentile move.
constexpr double share_of_stamps = 0.1;
// A growing heap or a thread's stack, once in a row.
constexpr double few_faults = 16;
// Each may take a slice of the scheduler, 4 ms: 2 % of the time, the default precision.
constexpr double few_switches_per_s = 5;
constexpr double share_of_steal = 0.01;

}  // namespace

Evidence& Evidence::operator+=(const Evidence& other) {
  minor_faults += other.minor_faults;
  major_faults += other.major_faults;
  yielded += other.yielded;
  preempted += other.preempted;
  steal_s += other.steal_s;
  return *this;
}

Evidence operator-(const Evidence& later, const Evidence& earlier) {
  return {later.minor_faults - earlier.minor_faults, later.major_faults - earlier.major_faults,
          later.yielded - earlier.yielded, later.preempted - earlier.preempted,
          std::max(0.0, later.steal_s - earlier.steal_s)};
}

bool has_page_faults(const Evidence& events, const TimedPart& part) {
  const double least = std::max(few_faults, share_of_stamps * static_cast<double>(part.stamps));
  return events.major_faults > 0 || static_cast<double>(events.minor_faults) > least;
}

bool has_noise(const Evidence& events, const TimedPart& part) {
  const double least = std::max(share_of_stamps * static_cast<double>(part.stamps),
                                few_switches_per_s * part.seconds);
  return static_cast<double>(events.preempted) > least || has_steal(events, part);
}

bool has_steal(const Evidence& events, const TimedPart& part) {
  return events.steal_s > share_of_steal * part.seconds * static_cast<double>(part.ranks);
}

}  // namespace ccl_tests
