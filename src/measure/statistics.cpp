#include "src/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ccl_tests {

Statistics statistics(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto nearest_rank = [&](double percent) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * n));
    return values[std::max<std::size_t>(rank, 1) - 1];
  };
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
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

}  // namespace ccl_tests
