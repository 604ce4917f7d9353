#include "src/run/iteration_times.hpp"

#include <algorithm>
#include <map>

namespace ccl_tests {
namespace {

// Keeps of each iteration the slowest rank's time of an operation.
void keep_slowest(std::vector<double>& slowest, std::span<const double> intervals,
                  double operations) {
  slowest.resize(std::max(slowest.size(), intervals.size()));
  for (std::size_t i = 0; i < intervals.size(); ++i)
    slowest[i] = std::max(slowest[i], intervals[i] / operations);
}

}  // namespace

IterationTimes iteration_times(const std::vector<RankIntervals>& ranks, double operations,
                               int skip) {
  IterationTimes times;
  std::map<std::uint64_t, std::vector<double>> processes;
  for (const RankIntervals& rank : ranks) {
    keep_slowest(times.seconds, rank.intervals, operations);
    keep_slowest(processes[rank.process], rank.intervals, operations);
  }
  // --row-time may have left fewer iterations than were to be skipped: the last one counts.
  const int measured = static_cast<int>(times.seconds.size());
  times.skipped = std::min(skip, std::max(0, measured - 1));
  times.of = statistics({times.seconds.begin() + times.skipped, times.seconds.end()});
  if (processes.size() < 2) return times;
  for (auto& [process, seconds] : processes) {
    seconds.resize(times.seconds.size());
    times.processes.push_back(process);
    times.process_seconds.insert(times.process_seconds.end(), seconds.begin(), seconds.end());
  }
  return times;
}

}  // namespace ccl_tests
