// Cells that end when their time is known well enough: by ranks whose calls take what they are told.
#include "src/measure/stream_criterion.hpp"

#include <gtest/gtest.h>

#include "tests/unit/criterion_cells.hpp"

namespace ccl_tests {
namespace {

using test::FakeRanks;
using test::Noise;
using Cell = test::Cell<StreamCriterion>;

TEST(Stream, BeginsWithSingleCallsOfWhichTheLastAreChecked) {
  const Step step = StreamCriterion({.checked = 3}).next();
  EXPECT_EQ(step.kind, Step::Kind::single_calls);
  EXPECT_EQ(step.single.calls, 3U);
  EXPECT_EQ(step.single.checked, 3U);
}

TEST(Stream, OfQuietCallsEndsAfter20Ms) {
  const Cell cell({}, {.median = 50e-6, .spread = 0.02});
  EXPECT_LE(cell.found().half_width(), 0.02);
  EXPECT_GE(cell.criterion.taken().spent_s, 0.02);
  EXPECT_LE(cell.criterion.taken().spent_s, 0.03);
  EXPECT_NEAR(cell.found().value, 50e-6, 1e-6);
}

TEST(Stream, OfNoisyCallsGoesOnUntilItIsPrecise) {
  const Cell cell({.budget_s = 10}, {.median = 1e-3, .spread = 0.3});
  EXPECT_LE(cell.found().half_width(), 0.02);
  EXPECT_GE(cell.criterion.taken().spent_s, 0.5);
}

TEST(Stream, EndsAtItsBudget) {
  const Cell cell({.precision = 1e-6}, {.median = 1e-3, .spread = 0.3});
  EXPECT_GE(cell.criterion.taken().spent_s, 0.3);
  EXPECT_LE(cell.criterion.taken().spent_s, 0.33);
  EXPECT_GT(cell.found().half_width(), 1e-6);
}

TEST(Stream, OfSlowCallsHasSixStamps) {
  const Cell cell({}, {.median = 0.5, .spread = 0.3});
  EXPECT_EQ(cell.found().stamps, 6U);
  EXPECT_TRUE(cell.found().has_interval());
}

TEST(Stream, KeepsToTheRowsTime) {
  const Cell cell({.limit_s = 1.2}, {.median = 0.5, .spread = 0});
  EXPECT_EQ(cell.found().stamps, 2U);
  EXPECT_EQ(Cell({.limit_s = 0.1}, {.median = 0.5, .spread = 0}).found().stamps, 1U);
}

TEST(Stream, ReadsTheClockRarelyEnough) {
  for (const double call_s : {50e-9, 0.2e-6, 1e-6, 10e-6}) {
    const Cell cell({.clock_cost_s = 25e-9}, {.median = call_s, .spread = 0.01});
    const double stamp_s = call_s * static_cast<double>(cell.criterion.taken().calls_per_stamp);
    EXPECT_GE(stamp_s, 100 * 25e-9) << call_s;
    EXPECT_LE(stamp_s, 100e-6) << call_s;
  }
  EXPECT_EQ(Cell({.clock_cost_s = 25e-9}, {.median = 1e-3}).criterion.taken().calls_per_stamp, 1U);
}

TEST(Stream, WarmsUpBehindEveryExchange) {
  const Cell cell({.budget_s = 1}, {.median = 10e-6, .spread = 0.5, .correlation = 0.8});
  ASSERT_GE(cell.steps.size(), 4U);
  for (std::size_t k = 1; k < cell.steps.size(); ++k) {
    EXPECT_GE(cell.steps[k].block.untimed, 10U) << k;
    EXPECT_NEAR(static_cast<double>(cell.steps[k].block.untimed) * 10e-6, 1e-3, 1e-3) << k;
    EXPECT_LE(cell.steps[k].block.samples, 512U) << k;
  }
}

// 20 of them would take more than a cell of short calls lasts, and a median does not show the first.
TEST(Stream, DoesNotWarmUpForLongCalls) {
  const Cell cell({}, {.median = 2e-3, .spread = 0.02});
  for (const Step& step : cell.steps) EXPECT_EQ(step.block.untimed, 0U);
  EXPECT_GE(Cell({}, {.median = 400e-6}).steps.at(1).block.untimed, 20U);
}

// The probe's stamps are of one call each.
TEST(Stream, KeepsTheProbeIfItsStampsAreAsLong) {
  const Cell slow({}, {.median = 1e-3});
  EXPECT_EQ(slow.criterion.taken().discarded_blocks, 0U);
  const Cell fast({.clock_cost_s = 25e-9}, {.median = 0.2e-6});
  EXPECT_EQ(fast.criterion.taken().discarded_blocks, 1U);
  std::size_t stamps = 0;
  for (std::size_t k = 2; k < fast.steps.size(); ++k) stamps += fast.steps[k].block.samples;
  EXPECT_EQ(fast.criterion.taken().samples[0].size(), stamps);
}

// Cold rows: no block uses a slot twice.
TEST(Stream, BlocksHaveNoMoreCallsThanSlots) {
  for (const double call_s : {0.2e-6, 10e-6, 1e-3}) {
    for (const std::size_t slots : {1UL, 2UL, 7UL, 100UL, 16'000UL}) {
      const Cell cell({.clock_cost_s = 25e-9, .most_calls = slots},
                      {.median = call_s, .spread = 0.01});
      for (std::size_t k = 1; k < cell.steps.size(); ++k) {
        const BlockPlan& block = cell.steps[k].block;
        EXPECT_LE(block.untimed + block.timed(), slots) << call_s;
        EXPECT_GE(block.samples, 1U);
      }
      EXPECT_GE(cell.found().stamps, 20U) << call_s << ' ' << slots;
    }
  }
}

TEST(Stream, GoesOnUntilTheWidestGroupIsPrecise) {
  StreamCriterion criterion({.groups = {{0}, {1}}});
  FakeRanks quiet({.median = 1e-4, .spread = 0.001}, 1, 1);
  FakeRanks noisy({.median = 1e-4, .spread = 0.3}, 2, 1);
  for (Step step = criterion.next(); step.kind != Step::Kind::done; step = criterion.next())
    criterion.add(step, std::vector<Samples>{quiet.take(step)[0], noisy.take(step)[0]});
  const int second[] = {1};
  const auto times = stamp_times(criterion.taken().samples, second, Average::mean,
                                 criterion.taken().calls_per_stamp);
  EXPECT_LE(estimate(times, Statistic::median).half_width(), 0.02);
  EXPECT_GT(times.size(), 300U);
}

TEST(Stream, EndsOnAClockThatStands) {
  const Cell cell({}, {.median = 0, .spread = 0});
  EXPECT_GE(cell.found().stamps, 20U);
  EXPECT_FALSE(cell.found().half_width());
}

// Looking at the interval again and again must not make it hold less often.
TEST(Stream, IntervalsAtTheEndHoldIn93To99Percent) {
  for (const double correlation : {0.0, 0.5}) {
    const int holds = test::intervals_that_hold<StreamCriterion>(
        {.budget_s = 100}, {.median = 1e-3, .spread = 0.1, .correlation = correlation});
    EXPECT_GE(holds, 279) << correlation;
    EXPECT_LE(holds, 299) << correlation;
  }
}

}  // namespace
}  // namespace ccl_tests
