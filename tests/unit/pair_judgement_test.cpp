// Who is named from the times of all pairs, and when nobody is.
#include "src/judge/pair_judgement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "src/judge/pair_band.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Sizes = std::vector<std::size_t>;
using Seconds = std::function<double(int a, int b, std::size_t bytes)>;

const Sizes many_sizes = {8, 64, 512, 4096, 16384, 65536, 262144, 1048576};

// Times that differ a little, in the same way in every run.
double wobble(int a, int b, std::size_t bytes, int half) {
  return 1 + 0.01 * std::sin(a * 12.9898 + b * 78.233 + std::log2(bytes) * 37.719 + half * 5.1);
}

std::vector<Row> all_pairs(int ranks, const Sizes& sizes, const Seconds& seconds) {
  std::vector<Row> rows;
  for (const std::size_t bytes : sizes)
    for (int a = 0; a < ranks; ++a)
      for (int b = a + 1; b < ranks; ++b) {
        Row& row = rows.emplace_back();
        row.bytes = bytes;
        row.pair = {a, b};
        row.out_of_place.seconds = seconds(a, b, bytes) * wobble(a, b, bytes, 0);
        row.in_place.seconds = seconds(a, b, bytes) * wobble(a, b, bytes, 1);
      }
  return rows;
}

std::vector<std::string> a_host_each(int ranks) {
  std::vector<std::string> hosts;
  for (int r = 0; r < ranks; ++r) hosts.push_back("node" + std::to_string(r));
  return hosts;
}

Seconds slow_rank(int rank, double factor, std::size_t from = 0) {
  return [=](int a, int b, std::size_t bytes) {
    return 4e-6 * ((a == rank || b == rank) && bytes >= from ? factor : 1);
  };
}
double healthy(int /*a*/, int /*b*/, std::size_t /*bytes*/) { return 4e-6; }

PairJudgement judge(int ranks, const Seconds& seconds, const Sizes& sizes = many_sizes) {
  return judge_pairs(all_pairs(ranks, sizes, seconds), a_host_each(ranks));
}

TEST(PairJudgement, HealthyRanksHaveNoNames) {
  for (const int ranks : {4, 5, 6, 7, 8, 16, 17}) {
    const PairJudgement found = judge(ranks, healthy);
    EXPECT_THAT(found.findings, IsEmpty()) << ranks;
    ASSERT_TRUE(found.could_see) << ranks << found.note;
    EXPECT_GT(*found.could_see, 1.1) << ranks;
    EXPECT_LT(*found.could_see, ranks < 6 ? 1.4 : 1.2) << ranks;
    EXPECT_EQ(found.note.empty(), ranks >= 6) << ranks;
  }
}

TEST(PairJudgement, TimesWithoutAnyNoiseAreJudgedToo) {
  auto rows = all_pairs(6, many_sizes, slow_rank(2, 1.5));
  for (Row& row : rows)
    row.in_place.seconds = row.out_of_place.seconds =
        row.pair->first == 2 || row.pair->second == 2 ? 6e-6 : 4e-6;
  const PairJudgement found = judge_pairs(rows, a_host_each(6));
  ASSERT_THAT(found.findings, SizeIs(1));
  EXPECT_NEAR(found.findings[0].ratio, 1.5, 1e-9);
  for (Row& row : rows) row.in_place.seconds = row.out_of_place.seconds = 4e-6;
  EXPECT_THAT(judge_pairs(rows, a_host_each(6)).findings, IsEmpty());
}

TEST(PairJudgement, ASlowRankIsNamedWithItsHostAndSize) {
  for (const int ranks : {4, 5, 6, 7, 8, 16, 17}) {
    for (const int slow : {0, 3, ranks - 1}) {
      const PairJudgement found = judge(ranks, slow_rank(slow, 2));
      ASSERT_THAT(found.findings, SizeIs(1)) << ranks << " " << slow << found.note;
      const PairFinding& one = found.findings[0];
      EXPECT_EQ(one.rank, slow);
      EXPECT_FALSE(one.pair);
      EXPECT_EQ(one.host, "node" + std::to_string(slow));
      EXPECT_NEAR(one.ratio, 2, 0.05);
      EXPECT_LT(one.low, 2);
      EXPECT_GT(one.high, 2);
      EXPECT_EQ(one.first_bytes, 8U);
      EXPECT_EQ(one.last_bytes, 1048576U);
    }
  }
}

TEST(PairJudgement, ARankThatIsSlowAtSomeSizesIsNamedWithThese) {
  for (const std::size_t from : {512U, 16384U, 65536U, 262144U}) {
    const PairJudgement found = judge(6, slow_rank(4, 2.5, from));
    ASSERT_THAT(found.findings, SizeIs(1)) << from;
    EXPECT_EQ(found.findings[0].rank, 4);
    EXPECT_EQ(found.findings[0].first_bytes, from);
    EXPECT_EQ(found.findings[0].last_bytes, 1048576U);
    EXPECT_NEAR(found.findings[0].ratio, 2.5, 0.05);
  }
  const PairJudgement small = judge(6, [](int a, int b, std::size_t bytes) {
    return 4e-6 * ((a == 1 || b == 1) && bytes <= 64 ? 2 : 1);
  });
  ASSERT_THAT(small.findings, SizeIs(1));
  EXPECT_EQ(small.findings[0].rank, 1);
  EXPECT_EQ(small.findings[0].last_bytes, 64U);
}

TEST(PairJudgement, ASmallDifferenceIsNotWorthAName) {
  EXPECT_THAT(judge(8, slow_rank(3, 1.06)).findings, IsEmpty());
}

// A size at which times are all over the place does not hide what the others show.
TEST(PairJudgement, NoiseOfSmallSizesNamesNobodyElse) {
  const PairJudgement found = judge(6, [](int a, int b, std::size_t bytes) {
    const double noise =
        bytes < 65536 ? std::exp(1.5 * std::sin(a * 7.1 + b * 3.3 + static_cast<double>(bytes)))
                      : 1;
    return 4e-6 * noise * (a == 4 || b == 4 ? 3 : 1);
  });
  ASSERT_THAT(found.findings, SizeIs(1));
  EXPECT_EQ(found.findings[0].rank, 4);
}

TEST(PairJudgement, ABadLinkIsNamedAndItsHostsAreNot) {
  const auto link = [](int a, int b, std::size_t) { return a == 2 && b == 5 ? 40e-6 : 4e-6; };
  for (const int ranks : {6, 8, 16}) {
    const PairJudgement found = judge(ranks, link);
    ASSERT_THAT(found.findings, SizeIs(1)) << ranks;
    EXPECT_EQ(found.findings[0].pair, RankPair(2, 5));
    EXPECT_FALSE(found.findings[0].rank);
    EXPECT_EQ(found.findings[0].host, "node2, node5");
    EXPECT_NEAR(found.findings[0].ratio, 10, 1);
  }
  const auto of_few = [](int a, int b, std::size_t) { return a == 2 && b == 3 ? 40e-6 : 4e-6; };
  for (const int ranks : {4, 5}) EXPECT_THAT(judge(ranks, of_few).findings, IsEmpty()) << ranks;
}

TEST(PairJudgement, OneSlowHalfIsNoBadLink) {
  auto rows = all_pairs(6, many_sizes, healthy);
  rows[0].in_place.seconds = 1;
  EXPECT_THAT(judge_pairs(rows, a_host_each(6)).findings, IsEmpty());
}

TEST(PairJudgement, TooFewHostsHaveNoNames) {
  for (const int ranks : {3}) {
    const PairJudgement found = judge(ranks, slow_rank(1, 10));
    EXPECT_THAT(found.findings, IsEmpty());
    EXPECT_FALSE(found.could_see);
    EXPECT_THAT(found.note, HasSubstr("3 hosts are too few"));
  }
  // Six ranks on three hosts are three hosts.
  const PairJudgement two_each =
      judge_pairs(all_pairs(6, many_sizes, slow_rank(1, 10)), {"a", "a", "b", "b", "c", "c"});
  EXPECT_THAT(two_each.findings, IsEmpty());
  EXPECT_THAT(two_each.note, HasSubstr("3 hosts are too few"));
  const PairJudgement one_host =
      judge_pairs(all_pairs(3, many_sizes, slow_rank(1, 10)), {"a", "a", "a"});
  EXPECT_THAT(one_host.note, HasSubstr("3 ranks are too few"));
}

TEST(PairJudgement, RanksThatShareAHostAreCompared) {
  const auto found =
      judge_pairs(all_pairs(6, many_sizes, slow_rank(1, 2)), std::vector<std::string>(6, "node"));
  ASSERT_THAT(found.findings, SizeIs(1));
  EXPECT_EQ(found.findings[0].rank, 1);
}

// Messages within a host are fast: rank 8, alone on its host, has no such neighbour.
TEST(PairJudgement, ARankAloneOnItsHostIsNotBlamedForIt) {
  const std::vector<std::string> hosts = {"a", "a", "b", "b", "c", "c", "d", "d", "e"};
  const auto rows = all_pairs(9, many_sizes, [&](int a, int b, std::size_t) {
    return hosts[static_cast<std::size_t>(a)] == hosts[static_cast<std::size_t>(b)] ? 1e-6 : 20e-6;
  });
  EXPECT_THAT(judge_pairs(rows, hosts).findings, IsEmpty());
}

TEST(PairJudgement, AllRanksOfASlowHostAreNamed) {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < 12; ++rank) hosts.push_back("node" + std::to_string(rank / 2));
  const auto rows = all_pairs(12, many_sizes, [&](int a, int b, std::size_t) {
    return 4e-6 * (a / 2 != b / 2 && (a / 2 == 3 || b / 2 == 3) ? 2 : 1);
  });
  const auto found = judge_pairs(rows, hosts);
  ASSERT_THAT(found.findings, SizeIs(2));
  EXPECT_EQ(found.findings[0].rank, 6);
  EXPECT_EQ(found.findings[1].rank, 7);
}

TEST(PairJudgement, TwoOfFourOrFiveAreTooMany) {
  for (const int ranks : {4, 5}) {
    const auto found = judge(ranks, [](int a, int b, std::size_t) {
      return 4e-6 * (a == 1 || b == 1 || a == 3 || b == 3 ? 4 : 1);
    });
    EXPECT_THAT(found.findings, IsEmpty()) << ranks;
  }
  const auto two_of_eight = judge(8, [](int a, int b, std::size_t) {
    return 4e-6 * (a == 1 || b == 1 || a == 3 || b == 3 ? 4 : 1);
  });
  EXPECT_THAT(two_of_eight.findings, SizeIs(2));
}

// Half of the ranks far from the other half.
TEST(PairJudgement, GroupsHaveNoNames) {
  for (const int ranks : {6, 8, 16}) {
    const auto found = judge(ranks, [=](int a, int b, std::size_t) {
      return 4e-6 * ((a < ranks / 2) == (b < ranks / 2) ? 1 : 3);
    });
    EXPECT_THAT(found.findings, IsEmpty()) << ranks;
  }
}

TEST(PairJudgement, SomePairsAreNotEnough) {
  auto rows = all_pairs(6, many_sizes, slow_rank(1, 3));
  std::erase_if(rows, [](const Row& row) { return row.pair == RankPair(0, 4); });
  const PairJudgement found = judge_pairs(rows, a_host_each(6));
  EXPECT_THAT(found.findings, IsEmpty());
  EXPECT_THAT(found.note, HasSubstr("--pairs all"));
  EXPECT_TRUE(judge_pairs({rows[0]}, a_host_each(6)).note.empty());
  EXPECT_TRUE(judge_pairs({Row()}, {}).note.empty());
  EXPECT_TRUE(judge_pairs({}, {}).note.empty());
}

TEST(PairJudgement, ARunThatWasInterruptedIsJudgedByItsWholeSizes) {
  auto rows = all_pairs(6, many_sizes, slow_rank(1, 3));
  rows.resize(rows.size() - 5);
  const PairJudgement found = judge_pairs(rows, a_host_each(6));
  ASSERT_THAT(found.findings, SizeIs(1));
  EXPECT_EQ(found.findings[0].last_bytes, 262144U);
}

TEST(PairJudgement, TooFewTimesAreSaidToBeTooFew) {
  const PairJudgement found = judge(4, slow_rank(1, 3), {1048576});
  EXPECT_THAT(found.findings, IsEmpty());
  EXPECT_THAT(found.note, HasSubstr("each pair has too few times (2)"));
  std::vector<Row> cycles;
  for (int cycle = 0; cycle < 5; ++cycle)
    for (Row row : all_pairs(4, {1048576}, slow_rank(1, 3))) {
      row.cycle = cycle;
      row.in_place.seconds *= wobble(cycle, 1, 8, 2);
      cycles.push_back(row);
    }
  EXPECT_THAT(judge_pairs(cycles, a_host_each(4)).findings, SizeIs(1));
  EXPECT_THAT(judge(8, slow_rank(1, 3), {1048576}).findings, SizeIs(1))
      << "of 8 one size is enough";
}

TEST(PairJudgement, HostsThatAreNotKnownAreNoReasonToFail) {
  const auto rows = all_pairs(6, many_sizes, slow_rank(1, 3));
  const auto found = judge_pairs(rows, {});
  ASSERT_THAT(found.findings, SizeIs(1));
  EXPECT_EQ(found.findings[0].host, "?");
}

TEST(PairBand, BandsAreHalvesAndOfManySizesQuarters) {
  const auto bands = [](std::size_t sizes) {
    Sizes list;
    for (std::size_t i = 0; i < sizes; ++i) list.push_back(8U << i);
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (const SizeBand& band : bands_of(pair_table(all_pairs(2, list, healthy))))
      found.emplace_back(band.first, band.last);
    return found;
  };
  using Bands = std::vector<std::pair<std::size_t, std::size_t>>;
  EXPECT_EQ(bands(0), Bands());
  EXPECT_EQ(bands(1), (Bands{{8, 8}}));
  EXPECT_EQ(bands(2), (Bands{{8, 16}, {8, 8}, {16, 16}}));
  EXPECT_EQ(bands(3), (Bands{{8, 32}, {8, 8}, {32, 32}}));
  EXPECT_EQ(bands(8), (Bands{{8, 1024}, {8, 64}, {128, 1024}, {8, 16}, {512, 1024}}));
}

}  // namespace
}  // namespace ccl_tests
