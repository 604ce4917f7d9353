// What -I shows of a row: its single iterations, out of what each of its ranks has timed. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

struct RankIntervals {
  std::uint64_t process = 0;          // that the rank is in
  std::span<const double> intervals;  // seconds of each timed iteration
};

// Returns the times of one operation of each iteration, and their statistics.
// operations: that an iteration is made of, one after the other.
// skip: first iterations that the statistics leave out; the last iteration always counts.
IterationTimes iteration_times(const std::vector<RankIntervals>& ranks, double operations,
                               int skip);

}  // namespace ccl_tests
