// What times that were measured again say, and which ones are.
#include "src/measure/repeatability.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "src/run/repeated_times.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;

TEST(Repeatability, IsTheMedianOfRelativeDifferences) {
  const std::vector<TimedTwice> pairs = {{1, 1.1, 3}, {2.2, 2, 1}, {5, 5, 2}, {0, 1, 9}, {1, 0, 9}};
  const auto found = repeatability(pairs);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->times, 3U);
  EXPECT_DOUBLE_EQ(found->difference, std::log(1.1));
  EXPECT_NEAR(found->largest, std::log(1.1), 1e-12);
  EXPECT_EQ(found->after_s, 2);
  EXPECT_FALSE(repeatability({}));
  EXPECT_FALSE(repeatability(std::vector<TimedTwice>{{0, 1, 1}}));
}

TEST(Repeatability, CoversTimesOfTheSameSpread) {
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.03);
  std::vector<TimedTwice> pairs;
  std::size_t covered = 0;
  for (int i = 0; i < 4001; ++i)
    pairs.push_back({std::exp(noise(random)), std::exp(noise(random)), 1});
  const double half_width = repeatability(pairs).value().half_width();
  for (const TimedTwice& pair : pairs)
    if (std::abs(std::log(pair.first)) <= half_width) ++covered;
  EXPECT_GT(covered, 4001 * 94 / 100);
  EXPECT_LT(covered, 4001 * 96 / 100);
}

TEST(Repeatability, IsJudgedByThePrecisionThatWasAskedFor) {
  const auto judged = [](double half_width, double precision) {
    const double difference = half_width / Repeatability{1, 1, 1, 1}.half_width();
    return repeating({6, difference, difference, 1}, precision);
  };
  EXPECT_EQ(judged(0.049, 0.02), Repeating::well);
  EXPECT_EQ(judged(0.051, 0.02), Repeating::fairly);
  EXPECT_EQ(judged(0.099, 0.02), Repeating::fairly);
  EXPECT_EQ(judged(0.101, 0.02), Repeating::badly);
  EXPECT_EQ(judged(0.101, 0.05), Repeating::well);
}

TEST(RepeatedTimes, AreSpreadOverTheShortOnes) {
  std::vector<PointTime> times;
  for (std::size_t p = 0; p < 24; ++p) times.push_back({p, 1e-6, 0});
  EXPECT_THAT(times_to_repeat(times), ElementsAre(0, 4, 8, 12, 16, 20));
  for (std::size_t p = 15; p < 24; ++p) times[p].seconds = 2e-3;
  EXPECT_THAT(times_to_repeat(times), ElementsAre(0, 2, 5, 7, 10, 12));
}

TEST(RepeatedTimes, AreTheSameOnesIfThereAreFew) {
  EXPECT_THAT(times_to_repeat({{0, 1e-6, 0}}), ElementsAre(0, 0, 0, 0, 0, 0));
  EXPECT_THAT(times_to_repeat({{0, 1e-6, 0}, {1, 0, 0}, {2, 1e-3, 0}}),
              ElementsAre(0, 0, 0, 2, 2, 2));
  EXPECT_THAT(times_to_repeat({{0, 0, 0}, {1, 1, 0}}), testing::IsEmpty());
  EXPECT_THAT(times_to_repeat({}), testing::IsEmpty());
}

}  // namespace
}  // namespace ccl_tests
