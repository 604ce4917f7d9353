#include "src/run/repeated_times.hpp"

#include <algorithm>

#include "src/core/clock.hpp"
#include "src/core/serialize.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t most_repeated = 6;
// 20 stamps of such calls take no longer than a cell takes at least.
constexpr double longest_call_s = 1e-3;
constexpr double budget_s = 10e-3;

// Of the first row: that of the slowest group, or of the first one.
double time_of(const std::vector<Measurement>& groups, bool one_row_for_all) {
  double longest = groups.front().seconds;
  if (!one_row_for_all) return longest;
  for (const Measurement& group : groups) longest = std::max(longest, group.seconds);
  return longest;
}

}  // namespace

std::vector<std::size_t> times_to_repeat(const std::vector<PointTime>& times) {
  std::vector<std::size_t> short_ones, chosen;
  for (std::size_t t = 0; t < times.size(); ++t)
    if (times[t].seconds > 0 && times[t].seconds <= longest_call_s) short_ones.push_back(t);
  if (short_ones.empty()) return chosen;
  for (std::size_t k = 0; k < most_repeated; ++k)
    chosen.push_back(short_ones[k * short_ones.size() / most_repeated]);
  return chosen;
}

std::optional<Repeatability> repeat_times(BenchmarkRunner& runner, Rank& rank,
                                          const Collective& collective,
                                          const std::vector<SweepPoint>& points,
                                          const std::vector<PointTime>& times) {
  const std::vector<std::size_t> chosen = times_to_repeat(times);
  std::vector<std::size_t> numbers;
  for (const std::size_t t : chosen) numbers.push_back(times[t].point);
  numbers = span_from_bytes<std::size_t>(
      rank.world().broadcast(span_to_bytes<std::size_t>(numbers), rank.limit_s()));
  runner.set_budget(budget_s);
  std::vector<TimedTwice> pairs;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    const double at_s = monotonic_seconds();
    const auto again = runner.times(collective, points.at(numbers[k]));
    if (!rank.is_first()) continue;
    const PointTime& before = times[chosen[k]];
    pairs.push_back(
        {before.seconds, time_of(again, runner.one_row_for_all(collective)), at_s - before.at_s});
  }
  return repeatability(pairs);
}

}  // namespace ccl_tests
