// The samples of a group of ranks, each a barrier and an operation: how long they took, and when each
// rank entered and left. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/measure/workload.hpp"

namespace ccl_tests {

// Returns of each sample the longest of the ranks' local durations, in seconds per call. Needs no
// common clock. ranks: samples of all ranks of the job.
std::vector<double> longest_durations(const std::vector<Samples>& ranks, std::span<const int> group,
                                      std::size_t calls);

// Of each sample, in seconds. Moments are of one clock.
struct SampleBrackets {
  std::vector<double> low;   // from the last entry to the last exit, per call
  std::vector<double> high;  // from the first entry to the last exit, per call
  std::vector<double> skew;  // from the first entry to the last
};

// Returns the brackets of a group's samples. If entering earlier never delays an operation, the time
// that it would take ranks which enter together is at least `low` and at most `high`, and so is the
// longest duration (longest_durations).
SampleBrackets brackets_of(const std::vector<Samples>& ranks, std::span<const int> group,
                           std::size_t calls);

// How the ranks of a group came and went: one number of each.
struct RankOrder {
  std::vector<double> late_share;  // of the samples, those that the rank alone entered last
  std::vector<double> slow_share;  // and those that it alone left last
  std::vector<double> late_s;      // median seconds from the median rank's entry to its own
};

// Returns who was last in a group's samples. A rank that is behind the next one by no more than
// `tie_s` counts for nobody. Moments are of one clock.
RankOrder rank_order(const std::vector<Samples>& ranks, std::span<const int> group,
                     double tie_s = 0);

}  // namespace ccl_tests
