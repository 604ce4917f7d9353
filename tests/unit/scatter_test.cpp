#include "src/measure/repeatability.hpp"

#include <gtest/gtest.h>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <vector>

#include "tests/unit/noise.hpp"

namespace ccl_tests {
namespace {

double t_of(double degrees) { return quantile(boost::math::students_t(degrees), 0.975); }

TEST(Scatter, IsThatOfTheLogarithms) {
  const double e = std::exp(1);
  const Scatter three = scatter_of(std::vector<double>{1, e, e * e});
  EXPECT_NEAR(three.mean, 1, 1e-12);
  EXPECT_NEAR(three.deviation, 1, 1e-12);
  EXPECT_EQ(three.degrees, 2U);
  const Scatter one = scatter_of(std::vector<double>{e});
  EXPECT_NEAR(one.mean, 1, 1e-12);
  EXPECT_EQ(one.degrees, 0U);
  EXPECT_EQ(half_width_of_another(one), 0);
}

TEST(Scatter, AloneGivesStudentsIntervalOfOneMore) {
  for (const std::size_t degrees : {1U, 2U, 5U, 9U, 30U}) {
    const auto n = static_cast<double>(degrees) + 1;
    EXPECT_NEAR(half_width_of_another({0, 0.1, degrees}),
                t_of(static_cast<double>(degrees)) * 0.1 * std::sqrt(1 + 1 / n), 1e-3);
  }
}

TEST(Scatter, MeetsTheUsualOneWhichCountsAsTwoDegrees) {
  const double agreeing = half_width_of_another({0, 0, 2}, 0.1);
  EXPECT_NEAR(agreeing, t_of(4) * 0.1 * std::sqrt(0.5) * std::sqrt(4. / 3), 1e-4);
  const double differing = half_width_of_another({0, 0.3, 2}, 0.1);
  EXPECT_NEAR(differing, t_of(4) * std::sqrt((0.09 + 0.01) / 2) * std::sqrt(4. / 3), 1e-3);
  EXPECT_LT(differing, half_width_of_another({0, 0.3, 2}));
}

TEST(UsualDeviation, IsTheMedianWhateverTheNumberOfTimes) {
  EXPECT_FALSE(usual_deviation({}, 0));
  std::vector<Scatter> rows(7, {0, 0.1, 2});
  EXPECT_FALSE(usual_deviation(rows, 0));
  rows.push_back({0, 0, 0});  // of one time
  EXPECT_FALSE(usual_deviation(rows, 0));
  for (const std::size_t degrees : {1U, 2U, 5U}) {
    const auto k = static_cast<double>(degrees);
    const double median = std::sqrt(quantile(boost::math::chi_squared(k), 0.5) / k);
    EXPECT_NEAR(*usual_deviation(std::vector<Scatter>(8, {0, 0.1 * median, degrees}), 0), 0.1,
                0.002);
  }
}

// One row in five scatters ten times as far: the usual one is that of the others.
TEST(UsualDeviation, DoesNotFollowAFewRows) {
  double sum = 0;
  constexpr int runs = 100;
  for (std::uint64_t run = 0; run < runs; ++run) {
    std::vector<Scatter> rows;
    for (std::uint64_t k = 0; k < 12; ++k) {
      test::Noise times({.median = 1, .spread = k % 5 == 0 ? 0.2 : 0.02}, run * 12 + k);
      rows.push_back(scatter_of(std::vector<double>{times.next(), times.next(), times.next()}));
    }
    sum += *usual_deviation(rows, 0);
  }
  EXPECT_GT(sum / runs, 0.015);
  EXPECT_LT(sum / runs, 0.035);
}

// Launches of microseconds that scatter by a tenth say nothing of calls of a millisecond: seen on a
// GPU whose large rows repeated within 1 % and were called unreliable.
TEST(Scatter, UsualIsWhatCallsOfThatLengthDo) {
  std::vector<Scatter> rows;
  for (int k = 0; k < 20; ++k) rows.push_back({std::log(5e-6), 0.1, 3});
  for (int k = 0; k < 8; ++k) rows.push_back({std::log(1e-5 * std::pow(2, k)), 0.001, 2});
  EXPECT_LT(*usual_deviation(rows, std::log(7e-4)), 0.005);
  EXPECT_GT(*usual_deviation(rows, std::log(5e-6)), 0.05);
}

}  // namespace
}  // namespace ccl_tests
