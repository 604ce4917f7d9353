// Rows of several passes: the one that stands for them, and the order in which they are taken.
#include "src/judge/passes.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "src/run/point.hpp"
#include "tests/unit/noise.hpp"

namespace ccl_tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

constexpr double bytes = 1e6;

Row row(double seconds, double half_width = 0) {
  Row row;
  for (Measurement* cell : {&row.out_of_place, &row.in_place}) {
    cell->seconds = seconds;
    cell->algbw = bytes / seconds / 1e9;
    cell->busbw = 2 * cell->algbw;
    cell->iterations = 20;
    cell->calls = 10;
    cell->verified_calls = 2;
    cell->wrong = 0;
    if (half_width == 0) continue;
    StreamTimes& stream = cell->stream.emplace();
    stream.low = seconds * (1 - half_width);
    stream.high = seconds * (1 + half_width);
    stream.stamps = 50;
    stream.precision_reached = half_width <= 0.02;
  }
  return row;
}

Measurement combined_cell(const std::vector<Row>& passes, double precision = 0.02) {
  return combined(passes, precision).out_of_place;
}

TEST(Passes, TimeIsTheMedianAndBandwidthsBelongToIt) {
  const Measurement three = combined_cell({row(1), row(5), row(2)});
  EXPECT_EQ(three.seconds, 2);
  EXPECT_DOUBLE_EQ(three.algbw, bytes / 2 / 1e9);
  EXPECT_DOUBLE_EQ(three.busbw, 2 * bytes / 2 / 1e9);
  EXPECT_EQ(three.pass_spread, 2);
  const Measurement two = combined_cell({row(1), row(3)});
  EXPECT_EQ(two.seconds, 2);
  EXPECT_DOUBLE_EQ(two.algbw, bytes / 2 / 1e9);
}

TEST(Passes, CountsAndWhatIsWrongAreSums) {
  std::vector<Row> passes = {row(1), row(1), row(1)};
  passes[0].out_of_place.wrong = 5;
  passes[0].out_of_place.failed_ranks = 2;
  passes[0].out_of_place.mismatches = {{1, "a", {}, {}, 2, 7, 8, "first"},
                                       {3, "b", {}, {}, 3, 0, 9, "other"}};
  passes[2].out_of_place.wrong = 1;
  passes[2].out_of_place.failed_ranks = 1;
  passes[2].out_of_place.mismatches = {{1, "a", {}, {}, 1, 4, 4, "later"}};
  passes[1].out_of_place.iterations = 3;
  const Measurement all = combined_cell(passes);
  EXPECT_EQ(all.calls, 30U);
  EXPECT_EQ(all.verified_calls, 6U);
  EXPECT_EQ(all.iterations, 3);
  EXPECT_EQ(all.wrong, 6U);
  EXPECT_EQ(all.failed_ranks, 2U);
  ASSERT_EQ(all.mismatches.size(), 2U);
  EXPECT_EQ(all.mismatches[0].explanation, "first");
  EXPECT_EQ(all.mismatches[0].wrong, 3U);
  passes[1].out_of_place.wrong.reset();
  EXPECT_EQ(combined_cell(passes).wrong, 6U);
  for (Row& pass : passes) pass.out_of_place.wrong.reset();
  EXPECT_FALSE(combined_cell(passes).wrong);
}

TEST(Passes, TheIntervalIsTheMiddlePassesWidenedByHowMuchTheTimesDiffer) {
  const Measurement close = combined_cell({row(1, 0.01), row(1.001, 0.015), row(1.002, 0.01)});
  EXPECT_DOUBLE_EQ(*close.stream->low, 1.001 * 0.985);
  EXPECT_DOUBLE_EQ(*close.stream->high, 1.001 * 1.015);
  EXPECT_TRUE(close.stream->precision_reached);
  EXPECT_THAT(close.stream->flags, ElementsAre());
  EXPECT_EQ(close.stream->stamps, 150U);
  const Measurement apart = combined_cell({row(1.5, 0.01), row(1, 0.01), row(1.1, 0.01)});
  // The standard deviation of ln 1, ln 1.1 and ln 1.5 is 0.21201.
  const double half = 4.303 * 0.21201 * std::sqrt(4. / 3);
  EXPECT_NEAR(*apart.stream->low, 1.1 * std::exp(-half), 1e-3);
  EXPECT_NEAR(*apart.stream->high, 1.1 * std::exp(half), 2e-3);
  EXPECT_FALSE(apart.stream->precision_reached);
  EXPECT_THAT(apart.stream->flags, ElementsAre("imprecise", "unstable"));
}

TEST(Passes, AreUnstableBeyondTheWidestIntervalOfOne) {
  EXPECT_THAT(combined_cell({row(1, 0.01), row(1.1, 0.06)}).stream->flags,
              Not(Contains("unstable")));
  EXPECT_THAT(combined_cell({row(1, 0.01), row(1.1, 0.04)}).stream->flags, Contains("unstable"));
  EXPECT_THAT(combined_cell({row(1, 0.01)}).stream->flags, ElementsAre());
}

TEST(Moments, AreOfOnePass) {
  const Row all = combined_moments({row(1, 0.01), row(1.02, 0.01), row(1.01, 0.01)}, 0.02);
  EXPECT_EQ(all.out_of_place.seconds, 1.01);
  EXPECT_EQ(all.moments, 3);
  EXPECT_EQ(all.passes, 1);
  EXPECT_FALSE(all.pass);
}

// Two of five came while something else ran on the machine.
// Moments of long calls have few stamps, and no interval of their own.
TEST(Moments, WithoutIntervalsHaveThatOfOneMore) {
  std::vector<Row> moments = {row(1, 0.01), row(1.02, 0.01), row(1.01, 0.01)};
  for (Row& moment : moments)
    for (Measurement* cell : {&moment.out_of_place, &moment.in_place}) {
      cell->stream->low.reset();
      cell->stream->high.reset();
    }
  const StreamTimes all = *combined_moments(moments, 0.02).out_of_place.stream;
  ASSERT_TRUE(all.low && all.high);
  EXPECT_LT(*all.low, 1);
  EXPECT_GT(*all.high, 1.02);
  moments.pop_back();
  EXPECT_FALSE(combined_moments(moments, 0.02).out_of_place.stream->low);
}

TEST(Moments, MayBeOfOtherWorkIfTheyAreFew) {
  const auto row_of = [](double seconds) { return row(seconds, 0.01); };
  std::vector<Row> moments = {row_of(1), row_of(3), row_of(1.01), row_of(1.02), row_of(2.5)};
  moments[1].out_of_place.stream->flags = {"noise", "drift"};
  for (const std::size_t m : {0, 2, 4}) moments[m].out_of_place.stream->flags = {"bimodal"};
  const Measurement all = combined_moments(moments, 0.02).out_of_place;
  EXPECT_EQ(all.seconds, 1.02);
  EXPECT_NEAR(*all.stream->low, 1.0, 0.1);
  EXPECT_LT(*all.stream->high, 2.6);
  EXPECT_THAT(all.stream->flags, Contains("bimodal"));
  EXPECT_THAT(all.stream->flags, Not(Contains("noise")));
  const Measurement passes = combined_cell(moments);
  EXPECT_GE(*passes.stream->high, 3);
}

// Of ranks that wait for CPUs.
TEST(Moments, OfFastTimesAreTheFastest) {
  std::vector<Row> moments = {row(3, 0.01), row(1, 0.01), row(1.1, 0.01), row(3.1, 0.01),
                              row(2, 0.01)};
  for (Row& moment : moments)
    for (Measurement* cell : {&moment.out_of_place, &moment.in_place})
      cell->stream->fast = cell->seconds;
  const Measurement all = combined_moments(moments, 0.02).out_of_place;
  EXPECT_EQ(all.seconds, 1);
  EXPECT_DOUBLE_EQ(all.algbw, bytes / 1e9);
  EXPECT_DOUBLE_EQ(*all.stream->high, 3.1);  // the fifth
  EXPECT_DOUBLE_EQ(*all.stream->low, 1 / 3.1);
  moments.push_back(row(1.05, 0.01));
  moments.back().out_of_place.stream->fast = 1.05;
  EXPECT_DOUBLE_EQ(*combined_moments(moments, 0.02).out_of_place.stream->high, 3);
}

TEST(Moments, KeepTheStampsOfAll) {
  std::vector<Row> moments = {row(1, 0.01), row(1, 0.01)};
  moments[0].out_of_place.stream->seconds = {1, 2};
  moments[1].out_of_place.stream->seconds = {3};
  EXPECT_THAT(combined_moments(moments, 0.02).out_of_place.stream->seconds, ElementsAre(1, 2, 3));
}

TEST(Passes, KeepEveryFlagOnce) {
  std::vector<Row> passes = {row(1, 0.01), row(1, 0.05), row(1, 0.01)};
  passes[0].out_of_place.stream->flags = {"bimodal"};
  passes[1].out_of_place.stream->flags = {"imprecise", "bimodal", "drift"};
  EXPECT_THAT(combined_cell(passes).stream->flags, ElementsAre("imprecise", "bimodal", "drift"));
  EXPECT_THAT(combined_cell(passes, 0.1).stream->flags, ElementsAre("bimodal", "drift"));
}

TEST(Passes, WithoutIntervalsHaveNone) {
  EXPECT_FALSE(combined_cell({row(1), row(2)}).stream);
  std::vector<Row> passes = {row(1, 0.01), row(2, 0.01)};
  for (Row& pass : passes) pass.out_of_place.stream->low = pass.out_of_place.stream->high = {};
  EXPECT_FALSE(combined_cell(passes).stream->low);
  EXPECT_THAT(combined_cell(passes).stream->flags, ElementsAre("imprecise"));
}

TEST(Passes, OfNothingTimedAreZero) {
  Row none;
  const Measurement all = combined_cell({none, none});
  EXPECT_EQ(all.seconds, 0);
  EXPECT_EQ(all.busbw, 0);
  EXPECT_FALSE(all.pass_spread);
}

TEST(Passes, SharesOfLateRanksAreOfTheSamplesOfAll) {
  std::vector<Row> passes = {row(1, 0.01), row(1, 0.01), row(1, 0.01)};
  passes[0].out_of_place.samples =
      SampleTimes{2e-6, 0.9, 1.1, 0.2, {}, 0.2, {0, 4}, {0, 1}, {1, 0}, {-1, 2}};
  passes[1].out_of_place.samples = passes[0].out_of_place.samples;
  passes[2].out_of_place.samples =
      SampleTimes{4e-6, 0.8, 1.2, 0.4, {}, 0.4, {0, 2}, {1, 0}, {0, 1}, {3, 0}};
  passes[2].out_of_place.stream->stamps = 100;
  const SampleTimes all = combined_cell(passes).samples.value();
  EXPECT_EQ(all.clock_error, 2e-6);
  EXPECT_EQ(all.bracket_low, 0.9);
  EXPECT_EQ(all.skew, 0.2);
  EXPECT_FALSE(all.skew_p99);
  EXPECT_THAT(all.ranks, ElementsAre(0U, 2U, 4U));
  EXPECT_THAT(all.late_share, ElementsAre(0.5, 0, 1));
  EXPECT_THAT(all.slow_share, ElementsAre(0.5, 1, 0));
  EXPECT_THAT(all.late_s, ElementsAre(-1, 0, 2));
}

TEST(Passes, OfWhichThereAreTwoHaveTheirRangeAlone) {
  const Measurement two = combined_cell({row(1, 0.01), row(1.1, 0.01)});
  EXPECT_DOUBLE_EQ(*two.stream->low, 0.99);
  EXPECT_DOUBLE_EQ(*two.stream->high, 1.1 * 1.01);
}

// Runs differ by as much as the passes within them: from three passes on the combined interval covers what
// all runs scatter around in 95 %, a pass's in a tenth.
TEST(Passes, IntervalsHoldThoughPassesAndRunsDiffer) {
  constexpr int runs = 400;
  for (const int number : {3, 4, 6}) {
    int of_one = 0;
    int of_all = 0;
    for (std::uint64_t seed = 0; seed < runs; ++seed) {
      test::Noise speed({.median = 1, .spread = 0.05}, seed);
      const double of_run = speed.next();
      std::vector<Row> passes;
      for (int pass = 0; pass < number; ++pass) passes.push_back(row(of_run * speed.next(), 0.01));
      const auto holds = [](const Measurement& cell) {
        return *cell.stream->low <= 1 && 1 <= *cell.stream->high;
      };
      if (holds(passes[0].out_of_place)) ++of_one;
      if (holds(combined_cell(passes))) ++of_all;
    }
    EXPECT_LT(of_one, 0.3 * runs);
    EXPECT_GE(of_all, 0.93 * runs) << number;
    EXPECT_LE(of_all, 0.99 * runs) << number;
  }
}

TEST(PassRows, AreCombinedWhenAllAreThere) {
  PassRows rows(2, 0.02);
  EXPECT_FALSE(rows.add(row(1), 8, {0, 0}));
  EXPECT_FALSE(rows.add(row(5), 8, {0, 1}));
  const auto all = rows.add(row(3), 8, {0, 0});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->out_of_place.seconds, 2);
  EXPECT_EQ(all->passes, 2);
  const auto rest = rows.take_rest();
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0].row.passes, 1);
  EXPECT_EQ(rest[0].requested, 8U);
  EXPECT_TRUE(rows.take_rest().empty());
}

// Three passes that happen to agree do not make a row certain, nor do three that differ make it worthless, where other
// rows are known. Rows differ in how far they scatter.
TEST(PassRows, LearnFromOtherRowsHowFarTimesScatter) {
  constexpr int runs = 200;
  constexpr std::size_t size = 8;
  int holds = 0;
  int alone_holds = 0;
  double width = 0;
  double alone_width = 0;
  for (std::uint64_t seed = 0; seed < runs; ++seed) {
    PassRows rows(3, 0.02);
    std::vector<std::vector<Row>> passes(size);
    for (int pass = 0; pass < 3; ++pass) {
      for (std::size_t k = 0; k < size; ++k) {
        test::Noise speed({.median = 1, .spread = k % 2 == 0 ? 0.03 : 0.05},
                          seed * 1000 + k * 10 + static_cast<std::uint64_t>(pass));
        Row& one = passes[k].emplace_back(row(speed.next(), 0.001));
        one.in_place = row(speed.next(), 0.001).in_place;
        const auto all = rows.add(one, 8, {k, 0});
        EXPECT_EQ(all.has_value(), pass == 2);
        if (!all) continue;
        const StreamTimes& both = *all->out_of_place.stream;
        const StreamTimes alone = *combined_cell(passes[k]).stream;
        holds += *both.low <= 1 && 1 <= *both.high;
        alone_holds += *alone.low <= 1 && 1 <= *alone.high;
        width += std::log(*both.high / *both.low);
        alone_width += std::log(*alone.high / *alone.low);
      }
    }
  }
  constexpr double cells = runs * size;
  EXPECT_GE(holds, 0.96 * cells);
  EXPECT_GE(alone_holds, 0.96 * cells);
  EXPECT_LT(width, 0.8 * alone_width);
}

TEST(OrderOfPass, IsShuffledBySeedAndNaturalInTheEnd) {
  const auto natural = order_of_pass(100, 3, 3, 1);
  EXPECT_TRUE(std::is_sorted(natural.begin(), natural.end()));
  const auto first = order_of_pass(100, 1, 3, 1);
  EXPECT_FALSE(std::is_sorted(first.begin(), first.end()));
  EXPECT_TRUE(std::is_permutation(first.begin(), first.end(), natural.begin()));
  EXPECT_EQ(first, order_of_pass(100, 1, 3, 1));
  EXPECT_NE(first, order_of_pass(100, 2, 3, 1));
  EXPECT_NE(first, order_of_pass(100, 1, 3, 2));
  EXPECT_TRUE(order_of_pass(0, 1, 2, 1).empty());
}

// The same on every rank, whatever library it runs with.
TEST(OrderOfPass, IsKnown) {
  EXPECT_THAT(order_of_pass(6, 1, 2, 1), ElementsAre(3, 4, 2, 1, 5, 0));
}

}  // namespace
}  // namespace ccl_tests
