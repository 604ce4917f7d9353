#include "tools/compare/sign_test.hpp"

#include <algorithm>

#include "src/measure/statistics.hpp"

namespace ccl_tests::compare {

namespace {

double fair_coin_tail(std::size_t trials, std::size_t heads) {
  return binomial_tail(trials, heads, 0.5);
}

}  // namespace

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
