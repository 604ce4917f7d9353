// Which times are measured at several moments, and what widths say of a run.
#include "src/measure/repeatability.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "src/run/moments.hpp"

namespace ccl_tests {
namespace {

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

// What a plan asks for, as "0 1 2 | 0 1": points of rounds. seconds: of a call of the point at its nth moment.
std::string asked(MomentPlan plan, const std::function<double(std::size_t, int)>& seconds,
                  double spent_s = 0.01) {
  std::map<std::size_t, int> moments;
  std::string text;
  while (const auto next = plan.next()) {
    if (next->begins_round && !text.empty()) text += "| ";
    text += std::to_string(next->point) + ' ';
    plan.add({seconds(next->point, moments[next->point]++), 1e-6}, spent_s);
  }
  return text;
}

TEST(MomentPlan, TakesTwoRoundsOfWhatRepeats) {
  EXPECT_EQ(asked(MomentPlan({8, 16, 32}), [](auto, int n) { return 1e-6 * (1 + 0.04 * n); }),
            "0 1 2 | 0 1 2 ");
  EXPECT_EQ(asked(MomentPlan({8}), [](auto, auto) { return 1e-6; }), "0 | 0 ");
  EXPECT_EQ(asked(MomentPlan({}), [](auto, auto) { return 1e-6; }), "");
}

TEST(MomentPlan, TakesMoreOfWhatDoesNot) {
  const auto second_jumps = [](std::size_t p, int n) { return p == 1 && n == 1 ? 2e-6 : 1e-6; };
  EXPECT_EQ(asked(MomentPlan({8, 16, 32}), second_jumps), "0 1 2 | 0 1 2 | 1 | 1 | 1 | 1 ");
  EXPECT_EQ(asked(MomentPlan({8, 16, 32}), second_jumps, 0.8), "0 1 2 | 0 1 2 | 1 | 1 ");
}

// The fastest of the moments counts there: what matters is whether it is met often.
TEST(MomentPlan, TakesMoreOfFastTimesUntilTheFastestCameBack) {
  const auto second_is_slow = [](auto is_slow) {
    return [=](std::size_t p, int n) { return p == 1 && is_slow(n) ? 2e-6 : 1e-6; };
  };
  const auto rounds = [](int more) {
    std::string text = "0 1 | 0 1 | 0 1 | 0 1 | 0 1 ";
    for (; more > 0; --more) text += "| 1 ";
    return text;
  };
  const auto sometimes = second_is_slow([](int n) { return n % 2 != 0; });
  const auto mostly = second_is_slow([](int n) { return n % 8 != 0; });
  const auto never = second_is_slow([](int) { return false; });
  EXPECT_EQ(asked(MomentPlan({8, 16}, true), never), rounds(0));
  EXPECT_EQ(asked(MomentPlan({8, 16}, true), sometimes), rounds(4));
  EXPECT_EQ(asked(MomentPlan({8, 16}, true), mostly), rounds(25));
  EXPECT_EQ(asked(MomentPlan({8, 16}, true), mostly, 2.1), rounds(2));
}

TEST(MomentPlan, GoesBySizeAndLeavesOutWhatTakesLong) {
  const auto by_size = [](std::size_t p, auto) { return p == 0 ? 5e-3 : p == 2 ? 4e-3 : 1e-6; };
  EXPECT_EQ(asked(MomentPlan({1 << 20, 8, 1 << 19, 16, 1 << 21}), by_size), "1 3 2 0 | 1 3 2 0 ");
  const auto one_by_chance = [](std::size_t p, int n) { return p == 1 && n == 0 ? 1 : 1e-6; };
  EXPECT_EQ(asked(MomentPlan({8, 16, 32}), one_by_chance), "0 1 2 | 0 1 2 | 1 | 1 | 1 | 1 ");
}

TEST(WidthTally, SaysWhatMostTimesAreWithin) {
  WidthTally tally;
  EXPECT_EQ(tally.most_within(), std::nullopt);
  for (int i = 0; i < 30; ++i) tally.add(0.014);
  for (int i = 0; i < 10; ++i) tally.add(0.1);
  tally.add(std::nullopt);
  EXPECT_EQ(tally.number(), 41U);
  EXPECT_EQ(tally.wider(), 1U);
  EXPECT_EQ(tally.most_within(), 0.1);  // 30 of 41 are fewer than three of four
  EXPECT_EQ(tally.others(), 1U);
  tally = {};
  for (const double width : {0.02, 0.02, 0.02, 0.13}) tally.add(width);
  EXPECT_EQ(tally.most_within(), 0.02);
  EXPECT_EQ(tally.others(), 1U);
  EXPECT_EQ(tally.wider(), 1U);
  EXPECT_EQ(WidthTally::step_of(0.13), 0.15);
  EXPECT_EQ(WidthTally::step_of(1.3), std::nullopt);
}

}  // namespace
}  // namespace ccl_tests
