#include "src/options/rank_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using Lists = std::vector<std::vector<int>>;

RankGroups groups(const SplitRule& grouping, int ranks) {
  return {grouping, std::vector<std::string>(static_cast<std::size_t>(ranks))};
}

Lists members(const RankGroups& g) {
  Lists lists;
  for (int k = 0; k < g.number(); ++k) lists.push_back(g.members(k));
  return lists;
}
Lists by(const char* text, int ranks) { return members(groups(parse_split_rule(text), ranks)); }

TEST(SplitRule, NoneIsOneGroupOfAll) {
  EXPECT_FALSE(SplitRule().splits());
  EXPECT_EQ(members(groups({}, 3)), (Lists{{0, 1, 2}}));
}

// One group that leaves a rank out is not the world.
TEST(RankGroups, TheWorldIsAllRanksInTheirOrder) {
  EXPECT_TRUE(RankGroups(Lists{{0, 1, 2}}, 3).is_world());
  EXPECT_FALSE(RankGroups(Lists{{0, 2, 1}}, 3).is_world());
  EXPECT_FALSE(RankGroups(Lists{{0, 1}}, 3).is_world());
  EXPECT_FALSE(RankGroups(Lists{{0, 1}, {2}}, 3).is_world());
}

TEST(SplitRule, OperationsOfNcclTests) {
  EXPECT_EQ(by("mod 2", 5), (Lists{{0, 2, 4}, {1, 3}}));
  EXPECT_EQ(by("MOD2", 5), by("%2", 5));
  EXPECT_EQ(by("div 2", 5), (Lists{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(by("/0b10", 5), by("DIV 2", 5));
  EXPECT_EQ(by("and 0x2", 6), (Lists{{0, 1, 4, 5}, {2, 3}}));
  EXPECT_EQ(by("&2", 6), by("AND 0X2", 6));
  EXPECT_EQ(by("or 1", 4), (Lists{{0, 1}, {2, 3}}));
  EXPECT_EQ(by("|1", 4), by("OR 0x1", 4));
  EXPECT_EQ(by("and 0x7", 3), (Lists{{0}, {1}, {2}}));
  EXPECT_EQ(members(groups(parse_split_mask("0x1"), 4)), by("and 1", 4));
  EXPECT_EQ(members(groups(parse_split_mask("1"), 4)), by("and 1", 4));
}

TEST(SplitRule, ListsKeepTheirOrder) {
  const RankGroups g = groups(parse_split_rule("ranks 3, 1 ; 2,0"), 4);
  EXPECT_EQ(members(g), (Lists{{3, 1}, {2, 0}}));
  EXPECT_EQ(g.group_of(0), 1);
  EXPECT_EQ(g.rank_in_group(0), 1);
  EXPECT_EQ(g.rank_in_group(3), 0);
}

TEST(SplitRule, HostsInTheOrderOfTheirFirstRank) {
  const RankGroups g(parse_split_rule("local"), {"b", "a", "b", "c"});
  EXPECT_EQ(members(g), (Lists{{0, 2}, {1}, {3}}));
  EXPECT_THAT(g.distinct_sizes(), ElementsAre(1, 2));
  EXPECT_EQ(g.smallest(), 1);
  EXPECT_EQ(g.describe(), "3 groups of 1 to 2 ranks");
}

TEST(SplitRule, RefusesWhatIsNone) {
  for (const char* text :
       {"", "mod", "mod x", "mod -1", "mod 0", "/0", "xor 1", "and 0xg", "2", "mod 2 3x", "ranks",
        "ranks a", "ranks 0,", "ranks 0;;1", "ranks -1", "locally", "mod 99999999999999999999"}) {
    EXPECT_THROW(parse_split_rule(text), UsageError) << text;
  }
  for (const char* text : {"", "0x", "g", "-1"}) EXPECT_THROW(parse_split_mask(text), UsageError);
}

TEST(SplitRule, ListsNameEveryRankOnce) {
  const auto error = [](const char* text) {
    try {
      groups(parse_split_rule(text), 4);
    } catch (const UsageError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(error("ranks 0,1;2,4"), testing::HasSubstr("no rank 4"));
  EXPECT_THAT(error("ranks 0,1;2,0"), testing::HasSubstr("rank 0 is named twice"));
  EXPECT_THAT(error("ranks 0,1;3"), testing::HasSubstr("rank 2 of 4 is in no group"));
}

}  // namespace
}  // namespace ccl_tests
