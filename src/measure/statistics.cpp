#include "src/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace ccl_tests {

double average(Average how, std::span<const double> values) {
  switch (how) {
    case Average::rank0: return values.front();
    case Average::mean: return mean_of(values);
    case Average::min: return *std::min_element(values.begin(), values.end());
    case Average::max: return *std::max_element(values.begin(), values.end());
  }
  return 0;
}

double normal_quantile_above(double tail) {
  double low = -40, high = 40;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

double student(std::size_t degrees) {
  constexpr double known[] = {12.706, 4.303, 3.182, 2.776, 2.571,
                              2.447,  2.365, 2.306, 2.262, 2.228};
  if (degrees <= std::size(known)) return known[degrees - 1];
  const auto n = static_cast<double>(degrees);  // within 0.002
  return 1.96 + 2.372 / n + 2.9 / (n * n);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double squared_deviations(std::span<const double> values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares;
}

double percentile(const std::vector<double>& sorted, double percent) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(percent * static_cast<double>(sorted.size()) / 100));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

Statistics statistics(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {.min = values.front(),
          .max = values.back(),
          .mean = mean_of(values),
          .p50 = values[values.size() / 2],
          .p95 = percentile(values, 95),
          .p99 = percentile(values, 99),
          .stdev = std::sqrt(squared_deviations(values) / static_cast<double>(values.size()))};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double half_width_of_mean(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const auto n = static_cast<double>(values.size());
  return student(values.size() - 1) * std::sqrt(squared_deviations(values) / (n - 1) / n);
}

double robust_deviation(std::vector<double> deviations) {
  for (double& one : deviations) one = std::abs(one);
  return 1.4826 * median(std::move(deviations));
}

double deviation_from_median(std::vector<double> values) {
  const double middle = median(values);
  for (double& value : values) value -= middle;
  return robust_deviation(std::move(values));
}

std::vector<double> places(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> places(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double shared = static_cast<double>(first + 1 + end) / 2;
    for (; first < end; ++first) places[order[first]] = shared;
  }
  return places;
}

double binomial_tail(std::uint64_t trials, std::uint64_t hits, double chance) {
  if (hits == 0 || chance >= 1) return 1;
  if (hits > trials || chance <= 0) return 0;
  const auto n = static_cast<double>(trials);
  double tail = 0;
  for (std::uint64_t k = hits; k <= trials; ++k) {
    const auto x = static_cast<double>(k);
    const double log_ways = std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1);
    const double term = std::exp(log_ways + x * std::log(chance) + (n - x) * std::log1p(-chance));
    tail += term;
    if (x > n * chance && term < tail * 1e-12) break;  // the rest is smaller still
  }
  return std::min(tail, 1.0);
}

bool stands_out(std::uint64_t trials, std::uint64_t hits, double chance) {
  constexpr double most_by_chance = 0.001;
  constexpr double of_few = 0.3;  // a third, not as exactly as a division gives it
  if (trials == 0 || chance > of_few) return false;
  const double share = static_cast<double>(hits) / static_cast<double>(trials);
  return share > std::max(0.5, 3 * chance) && binomial_tail(trials, hits, chance) < most_by_chance;
}

}  // namespace ccl_tests
