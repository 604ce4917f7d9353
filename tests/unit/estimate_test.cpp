// Intervals of streams: by hand where they are short, by how often they hold where they are long.
#include "src/measure/estimate.hpp"

#include <gtest/gtest.h>

#include "tests/unit/noise.hpp"

namespace ccl_tests {
namespace {

using test::Noise;

std::vector<double> up_to(int n) {
  std::vector<double> values;
  // Neighbours are far from each other, so that nothing seems to be correlated.
  for (int k = 0; k < n; ++k) values.push_back(k % 2 == 0 ? k / 2 + 1 : n - k / 2);
  return values;
}

TEST(Estimate, OfNothingIsNothing) {
  const Estimate none = estimate({}, Statistic::median);
  EXPECT_EQ(none.stamps, 0U);
  EXPECT_EQ(none.value, 0);
  EXPECT_FALSE(none.half_width());
}

TEST(Estimate, OfFiveValuesHasNoInterval) {
  const Estimate five = estimate(std::vector<double>{5, 1, 4, 2, 3}, Statistic::median);
  EXPECT_EQ(five.value, 3);
  EXPECT_EQ(five.mean, 3);
  EXPECT_FALSE(five.has_interval());
}

// P(all 6 on one side of the median) is 2 / 64: the interval of all of them holds in 96.9 %.
TEST(Estimate, OfSixValuesIsAllOfThem) {
  const Estimate six = estimate(std::vector<double>{5, 1, 4, 6, 2, 3}, Statistic::median);
  EXPECT_EQ(six.value, 3.5);
  EXPECT_EQ(six.low, 1);
  EXPECT_EQ(six.high, 6);
}

// The binomial distribution's ranks (n, low, high): P(low-th <= median <= high-th) >= 95 %.
TEST(Estimate, OfManyValuesHasTheBinomialDistributionsRanks) {
  const struct {
    int n;
    double low, high;
  } known[] = {{20, 6, 15}, {32, 10, 23}, {64, 24, 41}, {128, 53, 76}, {256, 112, 145}};
  for (const auto& [n, low, high] : known) {
    const Estimate found = estimate(up_to(n), Statistic::median);
    EXPECT_NEAR(found.low, low, 1) << n;
    EXPECT_NEAR(found.high, high, 1) << n;
    EXPECT_LE(found.low, low) << n << ": never narrower";
    EXPECT_GE(found.high, high) << n;
  }
}

TEST(Estimate, OfFastCallsIsTheTenthPercentile) {
  const Estimate found = estimate(up_to(400), Statistic::fast);
  EXPECT_EQ(found.value, 40);
  EXPECT_EQ(found.median, 200.5);
  // P(28-th <= 10th percentile <= 52-nd) of 400 is 95 %.
  EXPECT_NEAR(found.low, 28, 1);
  EXPECT_NEAR(found.high, 53, 1);
  const Estimate few = estimate(up_to(10), Statistic::fast);
  EXPECT_EQ(few.value, 1);
  EXPECT_EQ(few.low, 1);  // nothing smaller was seen
  EXPECT_EQ(estimate(up_to(400), Statistic::fast).value, 40);
}

TEST(Tick, IsSeenInCallsThatLastWholeTicks) {
  std::vector<double> stamps(20, 2e-4);
  EXPECT_FALSE(waits_for_tick(stamps, 1, 4e-3));
  for (std::size_t i = 0; i < 5; ++i) stamps[i] = 4.01e-3;
  EXPECT_FALSE(waits_for_tick(stamps, 1, 4e-3)) << "too few";
  stamps[5] = 8.05e-3;
  EXPECT_TRUE(waits_for_tick(stamps, 1, 4e-3));
  EXPECT_FALSE(waits_for_tick(stamps, 1, 0)) << "nobody waits for CPUs";
  EXPECT_FALSE(waits_for_tick(std::vector<double>(20, 4.2e-3), 1, 4e-3));
  EXPECT_FALSE(waits_for_tick(std::vector<double>(20, 24e-3), 1, 4e-3)) << "a long call";
  EXPECT_TRUE(waits_for_tick(std::vector<double>(20, 1e-3), 4, 4e-3)) << "4 calls a stamp";
}

TEST(Estimate, OfEqualValuesIsThatValue) {
  const Estimate equal = estimate(std::vector<double>(100, 7), Statistic::median);
  EXPECT_EQ(equal.value, 7);
  EXPECT_EQ(equal.half_width(), 0);
  EXPECT_FALSE(equal.bimodal());
}

TEST(Estimate, OfTheMeanComesFromBatches) {
  std::vector<double> values;
  for (int batch = 0; batch < 10; ++batch)
    for (int k = 0; k < 5; ++k) values.push_back(batch % 2 == 0 ? 9 : 11);
  const Estimate found = estimate(values, Statistic::mean);
  EXPECT_EQ(found.value, 10);
  EXPECT_NEAR(found.high - found.value, 2.262 * std::sqrt(10.0 / 9 / 10), 1e-9);
}

TEST(Estimate, SaysThatAMachineHasTwoSpeeds) {
  std::vector<double> values = Noise({}, 1).take(200);
  for (std::size_t k = 0; k < 30; ++k) values[k] *= 10;
  EXPECT_TRUE(estimate(values, Statistic::median).bimodal());
  EXPECT_FALSE(estimate(Noise({.spread = 0.2}, 2).take(200), Statistic::median).bimodal());
}

TEST(Estimate, SaysThatTimesDrift) {
  EXPECT_TRUE(drifts(Noise({.drift = 0.2}, 1).take(1000), Statistic::median));
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    seen += drifts(Noise({}, seed).take(300), Statistic::median) ? 1 : 0;
  EXPECT_LE(seen, 3);
}

struct Case {
  const char* name;
  Noise::Shape shape;
  std::size_t n;
  Statistic statistic = Statistic::median;
  double truth = 1;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Coverage95 : public testing::TestWithParam<Case> {};

TEST_P(Coverage95, HoldsIn93To99Percent) {
  const Case& c = GetParam();
  constexpr int runs = 1000;
  int holds = 0;
  for (int run = 0; run < runs; ++run) {
    const Estimate found =
        estimate(Noise(c.shape, static_cast<std::uint64_t>(run)).take(c.n), c.statistic);
    ASSERT_TRUE(found.has_interval());
    if (found.low <= c.truth && c.truth <= found.high) ++holds;
  }
  EXPECT_GE(holds, 930);
  EXPECT_LE(holds, 995);
}

INSTANTIATE_TEST_SUITE_P(
    Estimate, Coverage95,
    testing::Values(
        Case{"quiet", {.spread = 0.02}, 20}, Case{"noisy", {.spread = 0.2}, 100},
        Case{"outliers", {.spread = 0.05, .outlier_share = 0.05}, 80, Statistic::median, 1.003},
        Case{"correlated", {.spread = 0.05, .correlation = 0.5}, 300},
        Case{"very correlated", {.spread = 0.1, .correlation = 0.8}, 1500},
        // The mean of a log-normal distribution is exp(spread^2 / 2) of its median.
        Case{"mean", {.spread = 0.1}, 500, Statistic::mean, 1.005012},
        Case{"mean, correlated",
             {.spread = 0.1, .correlation = 0.5},
             1000,
             Statistic::mean,
             1.005012}));

}  // namespace
}  // namespace ccl_tests
