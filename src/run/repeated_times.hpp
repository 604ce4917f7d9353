// Times of a finished sweep, measured once more: what other moments of the same run say.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "src/measure/repeatability.hpp"
#include "src/run/benchmark_runner.hpp"

namespace ccl_tests {

// The time of a point's first row, of the first placement that was measured.
struct PointTime {
  std::size_t point = 0;  // its number
  double seconds = 0;     // of a call
  double at_s = 0;        // CLOCK_MONOTONIC when it was known
};

// Returns which of the times to measure again, in order: spread evenly over those of calls short enough
// for it, some more than once if they are few.
std::vector<std::size_t> times_to_repeat(const std::vector<PointTime>& times);

// Measures some of the points again; on rank 0 what came of it. times: on rank 0. Collective. Throws
// what BenchmarkRunner throws.
std::optional<Repeatability> repeat_times(BenchmarkRunner& runner, Rank& rank,
                                          const Collective& collective,
                                          const std::vector<SweepPoint>& points,
                                          const std::vector<PointTime>& times);

}  // namespace ccl_tests
