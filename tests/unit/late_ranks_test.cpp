// Which rank is called late: one that is, and nobody by chance.
#include "src/judge/late_ranks.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "src/measure/sample_criterion.hpp"
#include "src/measure/statistics.hpp"
#include "tests/unit/noise.hpp"

namespace ccl_tests {
namespace {

using test::Noise;

TEST(BinomialTail, IsKnown) {
  EXPECT_DOUBLE_EQ(binomial_tail(10, 0, 0.5), 1);
  EXPECT_NEAR(binomial_tail(10, 10, 0.5), 1.0 / 1024, 1e-12);
  EXPECT_NEAR(binomial_tail(10, 8, 0.5), 56.0 / 1024, 1e-12);
  EXPECT_NEAR(binomial_tail(4, 2, 0.25), 67.0 / 256, 1e-12);
  EXPECT_EQ(binomial_tail(4, 5, 0.25), 0);
  EXPECT_EQ(binomial_tail(4, 4, 1), 1);
  EXPECT_GT(binomial_tail(1'000'000, 250'000, 0.25), 0.49);
  EXPECT_LT(binomial_tail(1'000'000, 260'000, 0.25), 1e-6);
}

TEST(StandsOut, OnlyAboveHalfAndThreeTimesChance) {
  EXPECT_TRUE(stands_out(1000, 510, 1.0 / 8));
  EXPECT_FALSE(stands_out(1000, 500, 1.0 / 8));
  EXPECT_TRUE(stands_out(1000, 760, 1.0 / 4));
  EXPECT_FALSE(stands_out(1000, 750, 1.0 / 4));
  EXPECT_FALSE(stands_out(0, 0, 1.0 / 8));
}

TEST(StandsOut, NotByFewSamples) {
  EXPECT_FALSE(stands_out(4, 4, 1.0 / 4));  // 1 in 256
  EXPECT_TRUE(stands_out(5, 5, 1.0 / 4));   // 1 in 1024
}

TEST(StandsOut, NobodyOfTwoOrThree) {
  for (const double ranks : {2, 3}) EXPECT_FALSE(stands_out(1000, 1000, 1 / ranks));
}

// Ranks that enter within some microseconds; one of them by late_s later.
struct Entries {
  int ranks = 8;
  int late_rank = 5;
  double late_s = 0;
  double clock_s = 1e-9;  // resolution of the entries
};

Row row_of(const Entries& e, std::uint64_t seed) {
  Noise noise({.median = 1e-6, .spread = 0.5}, seed);
  Noise outside({.median = 100e-6, .spread = 0.1}, seed + 1000);
  std::vector<Samples> taken(static_cast<std::size_t>(e.ranks));
  for (int i = 0; i < 100; ++i) {
    std::vector<double> in;
    for (int r = 0; r < e.ranks; ++r) {
      const double at = noise.next() + (r == e.late_rank ? e.late_s : 0);
      in.push_back(i * 1e-3 + std::floor(at / e.clock_s) * e.clock_s);
    }
    const double out = *std::max_element(in.begin(), in.end()) + outside.next();
    for (std::size_t r = 0; r < taken.size(); ++r) taken[r].push_back({in[r], out, out});
  }
  std::vector<int> group(taken.size());
  std::iota(group.begin(), group.end(), 0);
  RankOrder order = rank_order(taken, group);
  Row row;
  row.in_place.repeats_out_of_place = true;
  Measurement& cell = row.out_of_place;
  cell.stream.emplace().stamps = 100;
  SampleTimes& samples = cell.samples.emplace();
  samples.ranks.assign(group.begin(), group.end());
  samples.skew = median(brackets_of(taken, group, 1).skew);
  samples.skew_share = *samples.skew / median(stamp_times(taken, group, Average::max, 1));
  samples.late_share = std::move(order.late_share);
  samples.slow_share = std::move(order.slow_share);
  samples.late_s = std::move(order.late_s);
  return row;
}

std::optional<LateRank> late(const Entries& e, int rows = 12) {
  LateRanks ranks;
  for (int k = 0; k < rows; ++k) ranks.add(row_of(e, static_cast<std::uint64_t>(k)));
  return ranks.found();
}

TEST(LateRanks, ALateRankIsNamed) {
  const auto found = late({.late_s = 40e-6});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 5);
  EXPECT_EQ(found->samples, 1200U);
  EXPECT_GT(found->share, 0.95);
  EXPECT_NEAR(found->late_s, 40e-6, 2e-6);
}

// More cells than are kept.
TEST(LateRanks, ALateRankOfALongRunIsNamed) {
  std::vector<Row> rows;
  for (std::uint64_t seed = 0; seed < 10; ++seed) rows.push_back(row_of({.late_s = 40e-6}, seed));
  LateRanks ranks;
  for (std::size_t k = 0; k < 10'000; ++k) ranks.add(rows[k % rows.size()]);
  const auto found = ranks.found();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 5);
  EXPECT_EQ(found->samples, 1'000'000U);
  EXPECT_NEAR(found->late_s, 40e-6, 1e-6);
}

TEST(LateRanks, OfEqualRanksNobodyIs) { EXPECT_FALSE(late({})); }

TEST(LateRanks, NobodyIsWhomTheTimesDoNotShow) {
  EXPECT_TRUE(late({.late_s = 4e-6}));
  EXPECT_FALSE(late({.late_s = 1.2e-6}));  // in most samples, by 1 % of them
}

// A clock that cannot tell the entries apart.
TEST(LateRanks, TiesNameNobody) { EXPECT_FALSE(late({.late_s = 40e-6, .clock_s = 1e-3})); }

TEST(LateRanks, OfFewRanksNobodyIs) {
  for (const int ranks : {1, 2, 3})
    EXPECT_FALSE(late({.ranks = ranks, .late_rank = ranks - 1, .late_s = 40e-6}));
  EXPECT_TRUE(late({.ranks = 4, .late_rank = 0, .late_s = 40e-6}));
}

TEST(LateRanks, SeveralMachinesAndStreamsSayNothing) {
  Row row = row_of({.late_s = 40e-6}, 1);
  LateRanks ranks;
  row.out_of_place.samples->late_share.clear();
  ranks.add(row);
  row.out_of_place.samples.reset();
  ranks.add(row);
  EXPECT_FALSE(ranks.found());
}

}  // namespace
}  // namespace ccl_tests
