// The cost of a reading of the clock, and the distance of two machines' clocks.
#pragma once

#include <span>
#include <vector>

#include "src/core/clock.hpp"
#include "src/measure/workload.hpp"

namespace ccl_tests {

// Seconds. Both 0 of a simulator's clock, which stands between events.
struct ClockProperties {
  double cost_s = 0;        // of one reading: the median of some thousand
  double resolution_s = 0;  // the smallest difference of two readings that is not 0
};

ClockProperties clock_properties(const Clock& clock);

// The distance of one machine's clock from another's, by messages there and back. Pure.

// A message to another machine and its answer: when it was sent and when the answer came, by the
// clock here, and what the clock there showed between the two. Seconds.
struct RoundTrip {
  double sent = 0, there = 0, received = 0;
};

// The lead of the clock there over the clock here at the moment `at` of the clock here: at least
// `low`, at most `high` seconds.
struct ClockOffset {
  double at = 0, low = 0, high = 0;

  double value() const { return (low + high) / 2; }
  double error() const { return high > low ? (high - low) / 2 : (low - high) / 2; }
};

// Returns what all round trips allow together: each says that the offset is at least `there -
// received` and at most `there - sent` (SKaMPI's bounds: Worsch, Reussner, Augustin, "On benchmarking
// collective MPI operations", 2002). The clocks must not drift apart within them by more than the
// fastest trip takes. trips: at least one.
ClockOffset clock_offset(std::span<const RoundTrip> trips);

// A clock that was compared with another one twice; in between the offset changes evenly.
struct ComparedClock {
  ClockOffset before, after;
};

// Moves the moments of each rank's samples onto the clock that all clocks were compared with. Returns
// how many seconds a moment can be wrong by, the largest of all ranks. clocks: one for each rank.
double onto_one_clock(std::vector<Samples>& ranks, std::span<const ComparedClock> clocks);

}  // namespace ccl_tests
