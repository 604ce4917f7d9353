// Our statistics against Boost.Math's distributions.
#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numeric>
#include <vector>

#include "src/measure/estimate.hpp"
#include "src/measure/statistics.hpp"
#include "tools/compare/pairs.hpp"

namespace ccl_tests {
namespace {

using boost::math::binomial;
using boost::math::cdf;

// P(the low-th smallest of n values <= their median <= the high-th), from 1 on.
double coverage(std::size_t n, double low, double high) {
  const binomial below(static_cast<double>(n), 0.5);  // how many values are below the median
  return cdf(below, high - 1) - cdf(below, low - 1);
}

// 1, 2, ..., n, such that neighbours are not correlated.
std::vector<double> up_to(std::size_t n) {
  std::vector<double> values;
  std::size_t step = static_cast<std::size_t>(0.618 * static_cast<double>(n)) | 1;
  while (std::gcd(step, n) != 1) step += 2;
  for (std::size_t k = 0; k < n; ++k) values.push_back(static_cast<double>(k * step % n + 1));
  return values;
}

TEST(Oracle, TheMediansIntervalCoversItAndNotMuchMore) {
  for (std::size_t n = 6; n <= 2000; n += n < 100 ? 1 : 37) {
    const std::vector<double> values = up_to(n);
    ASSERT_EQ(effective_size(values), static_cast<double>(n)) << n;
    const Estimate found = estimate(values, Statistic::median);
    ASSERT_TRUE(found.has_interval()) << n;
    EXPECT_GE(coverage(n, found.low, found.high), 0.95) << n;
    // The normal distribution's ranks are at most one wider at either end than the exact ones.
    if (n < 12) continue;
    EXPECT_LT(coverage(n, found.low + 2, found.high - 2), 0.95) << n;
  }
}

TEST(Oracle, TheMeansIntervalIsStudents) {
  const double t = quantile(boost::math::students_t(9), 0.975);
  std::vector<double> values;
  double squares = 0;
  for (int batch = 0; batch < 10; ++batch) {
    const double mean = 10 + (batch * 7) % 10;
    squares += (mean - 14.5) * (mean - 14.5);
    for (int k = 0; k < 4; ++k) values.push_back(mean);
  }
  const Estimate found = estimate(values, Statistic::mean);
  EXPECT_NEAR(found.high - found.value, t * std::sqrt(squares / 9 / 10), 2e-3);
}

TEST(Oracle, TheSignTestIsTheBinomials) {
  for (const std::size_t n : {1, 5, 12, 20, 31, 100, 1000}) {
    const binomial heads(static_cast<double>(n), 0.5);
    for (std::size_t k = 1; k <= n; k += 1 + n / 20)
      EXPECT_NEAR(binomial_tail(n, k, 0.5), cdf(complement(heads, static_cast<double>(k) - 1)),
                  1e-9)
          << n << " " << k;
  }
}

TEST(Oracle, TheRatiosIntervalIsTheNarrowestThatCovers) {
  for (std::size_t n = 6; n <= 200; ++n) {
    const auto found = compare::median_interval(up_to(n));
    ASSERT_TRUE(found) << n;
    EXPECT_GE(coverage(n, found->low, found->high), 0.95) << n;
    EXPECT_LT(coverage(n, found->low + 1, found->high - 1), 0.95) << n;
  }
}

}  // namespace
}  // namespace ccl_tests
