// What single samples say of their time and of who was late: by hand, and for any moments.
#include "src/measure/sample_criterion.hpp"

#include <gmock/gmock.h>

#include "src/measure/statistics.hpp"
#include "src/run/rank_report.hpp"
#include "tests/unit/noise.hpp"

namespace ccl_tests {
namespace {

using test::Noise;
using testing::ElementsAre;

Sample sample(double start, double end) { return {start, end, end}; }

// Rank 1 is not in the group.
const std::vector<Samples> three = {{sample(10, 14), sample(20, 23)},
                                    {sample(1, 99), sample(2, 99)},
                                    {sample(11, 15), sample(18, 24)}};
const std::vector<int> group = {0, 2};

TEST(SampleSeries, ByHand) {
  EXPECT_THAT(stamp_times(three, group, Average::max, 1), ElementsAre(4, 6));
  EXPECT_THAT(stamp_times(three, group, Average::max, 2), ElementsAre(2, 3));
  const SampleBrackets brackets = brackets_of(three, group, 2);
  EXPECT_THAT(brackets.low, ElementsAre(2, 2));
  EXPECT_THAT(brackets.high, ElementsAre(2.5, 3));
  EXPECT_THAT(brackets.skew, ElementsAre(1, 2));
}

TEST(SampleSeries, OfNothingIsNothing) {
  EXPECT_TRUE(stamp_times({}, group, Average::max, 1).empty());
  EXPECT_TRUE(brackets_of({}, group, 1).low.empty());
  EXPECT_TRUE(rank_order({}, group).late_share.empty());
}

TEST(SampleSeries, WhoIsLastIsCountedAndTiesCountForNobody) {
  const RankOrder order = rank_order(three, group);
  EXPECT_THAT(order.late_share, ElementsAre(0.5, 0.5));
  EXPECT_THAT(order.slow_share, ElementsAre(0, 1));
  EXPECT_THAT(order.late_s, ElementsAre(0.25, -0.25));
  const std::vector<Samples> tie = {{sample(1, 2)}, {sample(1, 2)}, {sample(0, 2)}};
  const int all[] = {0, 1, 2};
  EXPECT_THAT(rank_order(tie, all).late_share, ElementsAre(0, 0, 0));
  EXPECT_THAT(rank_order(tie, all).slow_share, ElementsAre(0, 0, 0));
}

TEST(SampleSeries, WhoIsLastByLessThanTheClocksErrorCountsForNobody) {
  EXPECT_THAT(rank_order(three, group, 0.9).late_share, ElementsAre(0.5, 0.5));
  EXPECT_THAT(rank_order(three, group, 1).late_share, ElementsAre(0.5, 0));
  EXPECT_THAT(rank_order(three, group, 1).slow_share, ElementsAre(0, 0));
  EXPECT_THAT(rank_order(three, group, 2).late_share, ElementsAre(0, 0));
}

// A rank that enters late by `late_s` beside noise of about 1 us; nobody leaves before all have come.
std::vector<Samples> with_late_rank(std::size_t rank, double late_s, std::uint64_t seed) {
  Noise entries({.median = 1e-6, .spread = 0.5}, seed);
  Noise calls({.median = 20e-6, .spread = 0.1}, seed + 1);
  std::vector<Samples> ranks(4);
  for (std::size_t i = 0; i < 400; ++i) {
    std::vector<double> in;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      in.push_back(1e6 + static_cast<double>(i) * 1e-3 + entries.next() + (r == rank ? late_s : 0));
    const double out = *std::max_element(in.begin(), in.end()) + calls.next();
    for (std::size_t r = 0; r < ranks.size(); ++r)
      ranks[r].push_back(sample(in[r], out + entries.next()));
  }
  return ranks;
}

TEST(SampleSeries, ALateRankIsFoundThoughItsOwnDurationsAreTheShortest) {
  const std::vector<Samples> ranks = with_late_rank(2, 10e-6, 1);
  const int all[] = {0, 1, 2, 3};
  const RankOrder order = rank_order(ranks, all);
  EXPECT_GT(order.late_share[2], 0.95);
  EXPECT_LT(order.slow_share[2], 0.4);
  EXPECT_NEAR(order.late_s[2], 10e-6, 1e-6);
  const auto duration = [&](int rank) {
    const int alone[] = {rank};
    return median(stamp_times(ranks, alone, Average::max, 1));
  };
  for (const int rank : {0, 1, 3}) EXPECT_LT(duration(2), duration(rank));
}

TEST(SampleSeries, AmongEqualRanksNobodyIsLateMostly) {
  const int all[] = {0, 1, 2, 3};
  for (const double share : rank_order(with_late_rank(0, 0, 3), all).late_share)
    EXPECT_NEAR(share, 0.25, 0.1);
}

// On one clock: low <= longest duration <= high, and high - low is the skew.
TEST(SampleSeries, TheLongestDurationLiesInTheBracket) {
  const int all[] = {0, 1, 2, 3};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<Samples> ranks =
        with_late_rank(seed % 4, 1e-6 * static_cast<double>(seed), seed);
    const std::vector<double> longest = stamp_times(ranks, all, Average::max, 1);
    const SampleBrackets brackets = brackets_of(ranks, all, 1);
    for (std::size_t i = 0; i < longest.size(); ++i) {
      EXPECT_LE(brackets.low[i], longest[i]);
      EXPECT_LE(longest[i], brackets.high[i]);
      EXPECT_NEAR(brackets.high[i] - brackets.low[i], brackets.skew[i], 1e-9);
    }
    EXPECT_LE(median(brackets.low), median(longest));
    EXPECT_LE(median(longest), median(brackets.high));
  }
}

// After ten days of uptime a float could not tell microseconds apart.
TEST(SampleSeries, MomentsTravelExactly) {
  const double entry = 864000.123456789;
  const Samples samples = {sample(entry, entry + 1.5e-7), sample(entry + 1, entry + 3600)};
  const Samples read = samples_of_moments(moments_to_text(samples));
  ASSERT_EQ(read.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read[i].start, samples[i].start);
    EXPECT_EQ(read[i].end, samples[i].end);
  }
}

}  // namespace
}  // namespace ccl_tests
