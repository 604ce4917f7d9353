#include "src/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace ccl_tests {

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

Statistics statistics(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto nearest_rank = [&](double percent) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * n));
    return values[std::max<std::size_t>(rank, 1) - 1];
  };
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {
      values.front(),   values.back(),         mean, values[values.size() / 2], nearest_rank(95),
      nearest_rank(99), std::sqrt(squares / n)};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double half_width_of_mean(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const auto n = static_cast<double>(values.size());
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return student(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
}

}  // namespace ccl_tests
