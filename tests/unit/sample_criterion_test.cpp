// Cells of single samples that end when their time is known well enough, by ranks whose calls take
// what they are told.
#include "src/measure/sample_criterion.hpp"

#include <gtest/gtest.h>

#include "tests/unit/criterion_cells.hpp"

namespace ccl_tests {
namespace {

using test::FakeRanks;
using test::Noise;
using Cell = test::Cell<SampleCriterion>;

TEST(SampleCriterion, BeginsWithSingleCallsThenTwelveSamplesBehindBarriers) {
  SampleCriterion criterion({.checked = 3, .groups = {{0}}});
  const Step step = criterion.next();
  EXPECT_EQ(step.kind, Step::Kind::single_calls);
  EXPECT_EQ(step.single.calls, 3U);
  EXPECT_EQ(step.single.checked, 3U);
  criterion.add(step, std::vector<Samples>{{{0, 1e-4, 1e-4}}});
  const Step first = criterion.next();
  EXPECT_EQ(first.block.blocking, Blocking::barrier_outside);
  EXPECT_EQ(first.block.samples, 12U);
  EXPECT_EQ(first.block.calls, 1U);
  EXPECT_GE(first.block.untimed, 10U);
}

TEST(SampleCriterion, OfQuietCallsEndsAfter20Ms) {
  const Cell cell({}, {.median = 50e-6, .spread = 0.02});
  EXPECT_LE(cell.found().half_width(), 0.02);
  EXPECT_GE(cell.criterion.taken().spent_s, 0.02);
  EXPECT_LE(cell.criterion.taken().spent_s, 0.03);
  EXPECT_NEAR(cell.found().value, 50e-6, 1e-6);
}

TEST(SampleCriterion, OfNoisyCallsGoesOnUntilItIsPrecise) {
  const Cell cell({.budget_s = 10}, {.median = 1e-3, .spread = 0.2});
  EXPECT_LE(cell.found().half_width(), 0.02);
  EXPECT_GE(cell.criterion.taken().spent_s, 0.2);
}

TEST(SampleCriterion, EndsAtItsBudgetWhichBarriersAreIn) {
  const Cell cell({.precision = 1e-6}, {.median = 1e-3, .spread = 0.3});
  EXPECT_GE(cell.criterion.taken().spent_s, 0.3);
  EXPECT_LE(cell.criterion.taken().spent_s, 0.33);
  EXPECT_GT(cell.found().half_width(), 1e-6);
  const Cell short_calls({.precision = 1e-9}, {.median = 2e-6, .spread = 0.3});
  EXPECT_LT(static_cast<double>(short_calls.criterion.taken().iterations) * 2e-6,
            0.6 * short_calls.criterion.taken().spent_s);
}

// By the growth rule: n samples of half width h become 1.1 n (h / precision)^2, within 1.25 n and 3 n.
TEST(SampleCriterion, TakesAsManySamplesAsTheIntervalNeeds) {
  const Cell cell({.budget_s = 100}, {.median = 5e-3, .spread = 0.1});
  SampleCriterion replay({.budget_s = 100, .groups = {{0, 1}}});
  FakeRanks fake({.median = 5e-3, .spread = 0.1}, 1, 2);
  std::size_t blocks = 0;
  for (Step step = replay.next(); step.kind != Step::Kind::done; step = replay.next()) {
    const auto n =
        static_cast<double>(replay.taken().samples.empty() ? 0 : replay.taken().samples[0].size());
    if (n > 0) {
      const int first[] = {0};
      const double ratio =
          estimate(stamp_times(replay.taken().samples, first, Average::max, 1), Statistic::median)
              .half_width()
              .value() /
          0.02;
      const double total = std::clamp(1.1 * n * ratio * ratio, 1.25 * n, 3 * n);
      EXPECT_NEAR(static_cast<double>(step.block.samples), std::min(512.0, std::ceil(total - n)),
                  1);
      ++blocks;
    }
    replay.add(step, fake.take(step));
  }
  EXPECT_GE(blocks, 2U);
  EXPECT_EQ(replay.taken().samples[0].size(), cell.criterion.taken().samples[0].size());
}

TEST(SampleCriterion, TakesAtMost4096SamplesIn512PerBlock) {
  const Cell cell({.precision = 1e-9, .budget_s = 1e6}, {.median = 1e-3, .spread = 0.3});
  EXPECT_EQ(cell.criterion.taken().samples[0].size(), 4096U);
  for (const Step& step : cell.steps) EXPECT_LE(step.block.samples, 512U);
}

TEST(SampleCriterion, OfSlowCallsHasSixSamplesAndKeepsToTheRowsTime) {
  EXPECT_EQ(Cell({}, {.median = 0.5, .spread = 0.3}).found().stamps, 6U);
  EXPECT_EQ(Cell({.limit_s = 1.2}, {.median = 0.5, .spread = 0}).found().stamps, 2U);
  EXPECT_EQ(Cell({.limit_s = 0.1}, {.median = 0.5, .spread = 0}).found().stamps, 1U);
}

TEST(SampleCriterion, RepeatsACallThatIsTooShortForTheClock) {
  for (const double call_s : {50e-9, 0.2e-6, 1e-6}) {
    const Cell cell({.clock_cost_s = 25e-9}, {.median = call_s, .spread = 0.01});
    const std::size_t calls = cell.criterion.taken().calls_per_stamp;
    EXPECT_GE(static_cast<double>(calls) * call_s, 0.99 * 100 * 25e-9) << call_s;
    EXPECT_LT(static_cast<double>(calls) / 2 * call_s, 1.01 * 100 * 25e-9) << call_s;
    EXPECT_NEAR(cell.found().value, call_s, 0.01 * call_s);
  }
  EXPECT_EQ(Cell({.clock_cost_s = 25e-9}, {.median = 1e-3}).criterion.taken().calls_per_stamp, 1U);
}

TEST(SampleCriterion, NeverRepeatsARootedCall) {
  const Cell cell({.clock_cost_s = 25e-9, .statistic = Statistic::mean}, {.median = 0.2e-6});
  EXPECT_EQ(cell.criterion.taken().calls_per_stamp, 1U);
}

TEST(SampleCriterion, GoesOnUntilTheWidestGroupIsPrecise) {
  SampleCriterion criterion({.groups = {{0}, {1}}});
  FakeRanks quiet({.median = 1e-4, .spread = 0.001}, 1, 1);
  FakeRanks noisy({.median = 1e-4, .spread = 0.2}, 2, 1);
  for (Step step = criterion.next(); step.kind != Step::Kind::done; step = criterion.next())
    criterion.add(step, std::vector<Samples>{quiet.take(step)[0], noisy.take(step)[0]});
  const int second[] = {1};
  const auto times = stamp_times(criterion.taken().samples, second, Average::max, 1);
  EXPECT_LE(estimate(times, Statistic::median).half_width(), 0.02);
  EXPECT_GT(times.size(), 100U);
}

TEST(SampleCriterion, EndsOnAClockThatStands) {
  SampleCriterion criterion({.clock_cost_s = 25e-9, .groups = {{0}}});
  std::size_t steps = 0;
  for (Step step = criterion.next(); step.kind != Step::Kind::done; step = criterion.next()) {
    const std::size_t n = step.kind == Step::Kind::block ? step.block.samples : step.single.calls;
    criterion.add(step, std::vector<Samples>{Samples(n)});
    ASSERT_LT(++steps, 10U);
  }
  EXPECT_EQ(criterion.taken().samples[0].size(), 12U);
}

// Looking at the interval again and again must not make it hold less often.
TEST(SampleCriterion, IntervalsAtTheEndHoldIn93To99Percent) {
  for (const double correlation : {0.0, 0.5}) {
    const int holds = test::intervals_that_hold<SampleCriterion>(
        {.budget_s = 100}, {.median = 1e-3, .spread = 0.1, .correlation = correlation});
    EXPECT_GE(holds, 279) << correlation;
    EXPECT_LE(holds, 299) << correlation;
  }
}

}  // namespace
}  // namespace ccl_tests
