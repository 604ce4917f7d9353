// Which pairs a job measures, in which rounds.
#include "src/options/rank_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;
using Lists = std::vector<PairRound>;

Lists rounds(const std::string& text, bool concurrent, int ranks) {
  return pair_rounds(parse_pairs(text), concurrent, ranks);
}

template <class E>
std::string refusal(const std::string& text, bool concurrent, int ranks) {
  try {
    rounds(text, concurrent, ranks);
  } catch (const E& e) {
    return e.what();
  }
  return "(accepted)";
}

TEST(Pairing, TheFirstTwoRanksByDefault) {
  const auto default_rounds = pair_rounds(Pairing(), false, 5);
  ASSERT_EQ(default_rounds.size(), 1U);
  EXPECT_EQ(default_rounds[0][0].first, 0);
  EXPECT_EQ(default_rounds[0][0].second, 1);
}

TEST(Pairing, AListInItsOrder) {
  EXPECT_EQ(rounds("3:1,0:2", false, 4), (Lists{{{3, 1}}, {{0, 2}}}));
  EXPECT_EQ(rounds("0:1,0:2", false, 3), (Lists{{{0, 1}}, {{0, 2}}}));
  EXPECT_EQ(rounds("3:1,0:2", true, 5), (Lists{{{3, 1}, {0, 2}}}));
}

TEST(Pairing, AllOneAfterTheOther) {
  EXPECT_EQ(rounds("all", false, 2), (Lists{{{0, 1}}}));
  EXPECT_EQ(rounds("all", false, 3), (Lists{{{1, 2}}, {{0, 2}}, {{0, 1}}}));
}

// A stretch of time in which the machine is slow must not hit the pairs of one rank.
TEST(Pairing, AllOneAfterTheOtherComeInTheOrderOfATournament) {
  for (int n = 2; n <= 9; ++n) {
    Lists single;
    for (const PairRound& round : rounds("all", true, n))
      for (const RankPair& pair : round) single.push_back({pair});
    EXPECT_EQ(rounds("all", false, n), single) << n;
  }
}

// Every pair once, nobody in two pairs of a round, as few rounds as possible.
TEST(Pairing, AllAtOnceIsATournament) {
  for (int n = 2; n <= 17; ++n) {
    const Lists tournament = rounds("all", true, n);
    EXPECT_EQ(tournament.size(), static_cast<std::size_t>(n % 2 == 0 ? n - 1 : n)) << n;
    std::set<RankPair> met;
    for (const auto& round : tournament) {
      EXPECT_EQ(round.size(), static_cast<std::size_t>(n / 2)) << n;
      std::set<int> busy;
      for (const auto& [a, b] : round) {
        EXPECT_TRUE(0 <= a && a < b && b < n) << n;
        EXPECT_TRUE(busy.insert(a).second && busy.insert(b).second) << n;
        EXPECT_TRUE(met.insert({a, b}).second) << n;
      }
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(n * (n - 1) / 2)) << n;
  }
}

TEST(Pairing, RefusesWhatTheJobCannotDo) {
  EXPECT_THAT(refusal<UsageError>("0:1,2:4", false, 4), HasSubstr("no rank 4; accepted: 0 to 3"));
  EXPECT_THAT(refusal<UsageError>("0:1,1:2", true, 4),
              HasSubstr("rank 1 is in more than one pair"));
  EXPECT_EQ(refusal<UsageError>("0:1,1:2", false, 4), "(accepted)");
  for (const char* pairs : {"all", "0:1"})
    EXPECT_THAT(refusal<Unsupported>(pairs, false, 1), HasSubstr("at least two"));
  Options o;
  o.sweep.grouping = parse_split_rule("mod 2");
  EXPECT_THROW(check_groups(collectives::pingpong, o, unplaced_groups(o, 4)), UsageError);
}

TEST(Pairing, RanksWithoutAPairAreInNoGroup) {
  const RankGroups groups = as_groups({{3, 1}, {0, 4}}, 5);
  EXPECT_EQ(groups.ranks(), 5);
  EXPECT_EQ(groups.number(), 2);
  EXPECT_EQ(groups.group_of(2), -1);
  EXPECT_EQ(groups.group_of(4), 1);
  EXPECT_EQ(groups.rank_in_group(3), 0);
  EXPECT_EQ(groups.rank_in_group(1), 1);
}

}  // namespace
}  // namespace ccl_tests
