#include "tools/compare/sign_test.hpp"

#include <algorithm>
#include <cmath>

namespace ccl_tests::compare {

double fair_coin_tail(std::size_t trials, std::size_t successes) {
  if (successes == 0) return 1;
  double sum = 0;
  const double n = static_cast<double>(trials);
  for (std::size_t i = successes; i <= trials; ++i) {
    const double k = static_cast<double>(i);
    const double log_ways = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
    sum += std::exp(log_ways - n * std::log(2.0));
  }
  return std::min(sum, 1.0);
}

double p_median_at_most(const std::vector<double>& values, double bound) {
  const auto above =
      std::count_if(values.begin(), values.end(), [&](double value) { return value > bound; });
  return fair_coin_tail(values.size(), static_cast<std::size_t>(above));
}

double p_median_at_least(const std::vector<double>& values, double bound) {
  const auto below =
      std::count_if(values.begin(), values.end(), [&](double value) { return value < bound; });
  return fair_coin_tail(values.size(), static_cast<std::size_t>(below));
}

std::optional<Interval> median_interval(std::vector<double> values, double confidence) {
  const std::size_t n = values.size();
  std::sort(values.begin(), values.end());
  // The median lies below the k-th smallest value if at least n - k + 1 values lie above it.
  std::size_t k = 0;
  while (k + 1 <= n / 2 && 2 * fair_coin_tail(n, n - k) <= 1 - confidence) ++k;
  if (k == 0) return std::nullopt;
  return Interval{values[k - 1], values[n - k]};
}

}  // namespace ccl_tests::compare
