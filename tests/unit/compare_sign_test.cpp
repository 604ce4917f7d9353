// The sign test, its interval and Holm's correction against binomials computed by hand.
#include <gtest/gtest.h>

#include "src/measure/statistics.hpp"

#include <cmath>

#include "tools/compare/pairs.hpp"

namespace ccl_tests::compare {
namespace {

TEST(CompareSignTest, TailOfFairCoins) {
  EXPECT_DOUBLE_EQ(binomial_tail(0, 0, 0.5), 1);
  EXPECT_DOUBLE_EQ(binomial_tail(12, 0, 0.5), 1);
  EXPECT_NEAR(binomial_tail(1, 1, 0.5), 0.5, 1e-12);
  EXPECT_NEAR(binomial_tail(5, 5, 0.5), 1.0 / 32, 1e-12);
  EXPECT_NEAR(binomial_tail(12, 12, 0.5), 1.0 / 4096, 1e-12);
  EXPECT_NEAR(binomial_tail(12, 11, 0.5), 13.0 / 4096, 1e-12);              // 1 + 12
  EXPECT_NEAR(binomial_tail(12, 10, 0.5), 79.0 / 4096, 1e-12);              // 1 + 12 + 66
  EXPECT_NEAR(binomial_tail(12, 9, 0.5), 299.0 / 4096, 1e-12);              // + 220
  EXPECT_NEAR(binomial_tail(10, 5, 0.5), 638.0 / 1024, 1e-12);              // 252 + 386
  EXPECT_NEAR(binomial_tail(1000, 501, 0.5), 0.5 - 0.5 * 0.0252250, 1e-6);  // half of all but 500
  EXPECT_DOUBLE_EQ(binomial_tail(3, 4, 0.5), 0);
}

TEST(CompareSignTest, CountsWhatLiesBeyondTheBound) {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  EXPECT_NEAR(p_median_at_most(values, 0), 1.0 / 32, 1e-12);
  EXPECT_NEAR(p_median_at_most(values, 1.5), 6.0 / 32, 1e-12);
  EXPECT_NEAR(p_median_at_most(values, 1), 6.0 / 32, 1e-12) << "a tie counts for the hypothesis";
  EXPECT_NEAR(p_median_at_least(values, 6), 1.0 / 32, 1e-12);
  EXPECT_NEAR(p_median_at_least(values, 5), 6.0 / 32, 1e-12);
  EXPECT_DOUBLE_EQ(p_median_at_most(values, 9), 1);
  EXPECT_DOUBLE_EQ(p_median_at_most({}, 0), 1);
  EXPECT_DOUBLE_EQ(p_median_at_least({}, 0), 1);
}

TEST(CompareSignTest, Median) {
  EXPECT_DOUBLE_EQ(median({3}), 3);
  EXPECT_DOUBLE_EQ(median({4, 1}), 2.5);
  EXPECT_DOUBLE_EQ(median({9, 1, 5}), 5);
}

std::vector<double> counted(int n) {  // n, ..., 2, 1
  std::vector<double> values;
  for (int i = n; i >= 1; --i) values.push_back(i);
  return values;
}

TEST(CompareSignTest, IntervalOfTheMedian) {
  EXPECT_FALSE(median_interval({}));
  EXPECT_FALSE(median_interval(counted(5)));  // 2 / 32 is above 0.05
  const auto six = median_interval(counted(6));
  ASSERT_TRUE(six);  // 2 / 64
  EXPECT_DOUBLE_EQ(six->low, 1);
  EXPECT_DOUBLE_EQ(six->high, 6);
  const auto twelve = median_interval(counted(12));
  ASSERT_TRUE(twelve);  // 2 * 79 / 4096 = 0.039, and 2 * 299 / 4096 = 0.146
  EXPECT_DOUBLE_EQ(twelve->low, 3);
  EXPECT_DOUBLE_EQ(twelve->high, 10);
  const auto half = median_interval(counted(3), 0.5);  // 2 / 8 fits, 2 * 4 / 8 does not
  ASSERT_TRUE(half);
  EXPECT_DOUBLE_EQ(half->low, 1);
  EXPECT_DOUBLE_EQ(half->high, 3);
}

TEST(CompareHolm, MultipliesByTheTestsThatAreLeft) {
  const std::vector<double> adjusted = holm({0.03, 0.005, 0.2, 0.01});
  EXPECT_NEAR(adjusted[1], 0.02, 1e-12);  // 4 * 0.005
  EXPECT_NEAR(adjusted[3], 0.03, 1e-12);  // 3 * 0.01
  EXPECT_NEAR(adjusted[0], 0.06, 1e-12);  // 2 * 0.03
  EXPECT_NEAR(adjusted[2], 0.2, 1e-12);
  EXPECT_TRUE(holm({}).empty());
}

TEST(CompareHolm, NeverFallsAndNeverExceedsOne) {
  const std::vector<double> adjusted = holm({0.04, 0.03, 0.9});
  EXPECT_NEAR(adjusted[1], 0.09, 1e-12);  // 3 * 0.03
  EXPECT_NEAR(adjusted[0], 0.09, 1e-12);  // 2 * 0.04 would be less
  EXPECT_DOUBLE_EQ(adjusted[2], 0.9);
  EXPECT_DOUBLE_EQ(holm({0.7, 0.8})[0], 1);
}

TEST(CompareHolm, FewestPairs) {
  EXPECT_EQ(fewest_pairs(1), 5U);
  EXPECT_EQ(fewest_pairs(5), 7U);
  EXPECT_EQ(fewest_pairs(12), 8U);
  EXPECT_EQ(fewest_pairs(30), 10U);
}

TEST(CompareHolm, PairsThatAgree) {
  EXPECT_EQ(pairs_that_agree(12, 1), 10U);   // 79 / 4096
  EXPECT_EQ(pairs_that_agree(12, 15), 11U);  // 15 * 13 / 4096 = 0.048
  EXPECT_EQ(pairs_that_agree(12, 16), 12U);
  EXPECT_EQ(pairs_that_agree(4, 1), std::nullopt);  // 1 / 16
  EXPECT_EQ(pairs_that_agree(0, 1), std::nullopt);
}

}  // namespace
}  // namespace ccl_tests::compare
