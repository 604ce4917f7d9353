#include "src/measure/estimate.hpp"

#include <algorithm>
#include <cmath>

#include "src/measure/statistics.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t least_values = 6;       // below, no 95 % interval of a median exists
constexpr std::size_t least_correlated = 12;  // below, a correlation means nothing

// A tenth of the stamps may be wrong before the 10th and 90th percentile move.
constexpr double share_of_stamps = 0.1;
// A growing heap or a thread's stack, once in a row.
constexpr double few_faults = 16;
// Each may take a slice of the scheduler, 4 ms: 2 % of the time, the default precision.
constexpr double few_switches_per_s = 5;
constexpr double share_of_steal = 0.01;

// Correlation of neighbours; 0 if all values are equal.
double lag_1(std::span<const double> values) {
  const double mean = mean_of(values), squares = squared_deviations(values);
  double products = 0;
  for (std::size_t k = 1; k < values.size(); ++k)
    products += (values[k] - mean) * (values[k - 1] - mean);
  return squares > 0 ? products / squares : 0;
}

// Adds the quantile p, which is the median if p is 0.5.
void add_quantile(Estimate& result, const std::vector<double>& sorted, double p, double effective) {
  const auto n = static_cast<double>(sorted.size());
  const double share = 1.96 * std::sqrt(p * (1 - p) / effective);
  double low = std::floor(n * (p - share));
  if (p < 0.5) low = std::max(low, 1.0);
  const double high = std::ceil(n * (p + share)) + 1;
  if (low < 0 || high > n + 1 || sorted.size() < least_values) return;
  // The interval of 6 to 9 values is all of them: 96.9 % and more.
  result.low = sorted[static_cast<std::size_t>(std::max(low, 1.0)) - 1];
  result.high = sorted[static_cast<std::size_t>(std::min(high, n)) - 1];
}

void add_mean(Estimate& result, std::span<const double> stamps) {
  result.value = result.mean;
  constexpr std::size_t batches = 10;
  const std::size_t each = stamps.size() / batches;
  if (each == 0) return;
  std::vector<double> means;
  for (std::size_t b = 0; b < batches; ++b)
    means.push_back(mean_of(stamps.subspan(b * each, each)));
  const double half = half_width_of_mean(means);
  result.low = std::max(0.0, result.value - half);
  result.high = result.value + half;
}

}  // namespace

double effective_size(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  if (values.size() < least_correlated) return n;
  const double r = std::min(0.95, lag_1(places(values)) + 1 / n);
  return r > 0.05 ? std::max(1.0, n * (1 - r) / (1 + r)) : n;
}

Estimate estimate(std::span<const double> stamps, Statistic statistic) {
  Estimate result;
  result.stamps = stamps.size();
  if (stamps.empty()) return result;
  std::vector<double> sorted(stamps.begin(), stamps.end());
  std::sort(sorted.begin(), sorted.end());
  result.mean = mean_of(stamps);
  result.fast = percentile(sorted, 10);
  result.slow = percentile(sorted, 90);
  result.median = median(sorted);
  switch (statistic) {
    case Statistic::mean: add_mean(result, stamps); break;
    case Statistic::median:
      result.value = result.median;
      add_quantile(result, sorted, 0.5, effective_size(stamps));
      break;
    case Statistic::fast:
      result.value = result.fast;
      add_quantile(result, sorted, 0.1, effective_size(stamps));
      break;
  }
  return result;
}

bool drifts(std::span<const double> stamps, Statistic statistic) {
  const std::size_t third = stamps.size() / 3;
  if (third < least_correlated) return false;
  const Estimate first = estimate(stamps.first(third), statistic);
  const Estimate last = estimate(stamps.last(third), statistic);
  return first.has_interval() && last.has_interval() &&
         (first.high < last.low || last.high < first.low);
}

bool waits_for_tick(std::span<const double> stamps, std::size_t calls_per_stamp, double tick_s) {
  constexpr double near = 0.03, most_ticks = 4, least_share = 0.3;
  constexpr std::size_t least = 6;
  if (tick_s <= 0) return false;
  std::size_t found = 0;
  for (const double seconds : stamps) {
    const double ticks = seconds * static_cast<double>(calls_per_stamp) / tick_s;
    const double whole = std::round(ticks);
    if (whole >= 1 && whole <= most_ticks && std::abs(ticks - whole) <= near) ++found;
  }
  return found >= least &&
         static_cast<double>(found) >= least_share * static_cast<double>(stamps.size());
}

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
