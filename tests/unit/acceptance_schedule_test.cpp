// Who measures whom: tournaments, racks, confirmations.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/unit/acceptance_noise.hpp"
#include "tools/acceptance/search/screen.hpp"

namespace ccl_tests::acceptance {
namespace {

using test::first_hosts;

// Fails unless no host is in two pairs of the round.
void expect_matching(const Round& round) {
  std::set<int> hosts;
  for (const HostPair& pair : round) {
    EXPECT_TRUE(hosts.insert(pair.a).second) << pair.a;
    EXPECT_TRUE(hosts.insert(pair.b).second) << pair.b;
  }
}

// How often each pair meets.
std::map<std::pair<int, int>, int> meetings(const std::vector<Round>& rounds) {
  std::map<std::pair<int, int>, int> count;
  for (const Round& round : rounds)
    for (const HostPair& pair : round) ++count[std::minmax(pair.a, pair.b)];
  return count;
}

TEST(AcceptanceSchedule, CircleHasEachPairOnce) {
  for (const int hosts : {2, 3, 4, 5, 6, 7, 16, 17, 64}) {
    const std::vector<Round> rounds = circle(hosts);
    EXPECT_EQ(rounds.size(), static_cast<std::size_t>(hosts - 1 + hosts % 2)) << hosts;
    for (const Round& round : rounds) {
      expect_matching(round);
      EXPECT_EQ(round.size(), static_cast<std::size_t>(hosts / 2)) << hosts;
    }
    const auto met = meetings(rounds);
    EXPECT_EQ(met.size(), static_cast<std::size_t>(hosts * (hosts - 1) / 2)) << hosts;
    for (const auto& [pair, times] : met) EXPECT_EQ(times, 1) << pair.first << " " << pair.second;
  }
  EXPECT_TRUE(circle(0).empty());
  EXPECT_TRUE(circle(1).empty());
}

TEST(AcceptanceSchedule, TournamentsFollowEachOtherAndAreAlikeFromOneSeed) {
  Random random(7), same(7), other(8);
  Tournaments rounds({3, 5, 8, 9, 11, 20}, random), again({3, 5, 8, 9, 11, 20}, same);
  Tournaments different({3, 5, 8, 9, 11, 20}, other);
  std::vector<Round> taken;
  bool differs = false;
  for (int i = 0; i < 10; ++i) {
    taken.push_back(rounds.next());
    const Round expected = again.next(), unlike = different.next();
    ASSERT_EQ(taken.back().size(), expected.size());
    for (std::size_t p = 0; p < expected.size(); ++p) {
      EXPECT_EQ(taken.back()[p].a, expected[p].a);
      EXPECT_EQ(taken.back()[p].b, expected[p].b);
      differs = differs || unlike[p].a != expected[p].a;
    }
  }
  EXPECT_TRUE(differs);
  for (const auto& [pair, times] : meetings(taken)) EXPECT_EQ(times, 2);
  EXPECT_EQ(meetings(taken).size(), 15u);
}

// The engine's numbers are fixed by the standard, and so must ours be: ranks of different builds
// compute one schedule.
TEST(AcceptanceSchedule, ShuffleIsTheSameEverywhere) {
  Random random(1);
  std::vector<int> values = first_hosts(8);
  shuffle(values, random);
  EXPECT_EQ(values, (std::vector<int>{4, 6, 3, 5, 1, 7, 2, 0}));
}

TEST(AcceptanceSchedule, RacksStayApart) {
  const Racks racks = {{0, 1, 2, 3}, {4, 5, 6}, {7, 8, 9, 10, 11, 12}};
  const auto rack = [](int host) { return host < 4 ? 0 : host < 7 ? 1 : 2; };
  Random random(3);
  IntraRackRounds inside(racks, random);
  for (int i = 0; i < 12; ++i) {
    const Round round = inside.next();
    EXPECT_EQ(round.size(), 6u);
    expect_matching(round);
    for (const HostPair& pair : round) EXPECT_EQ(rack(pair.a), rack(pair.b));
  }
}

TEST(AcceptanceSchedule, RacksMeetOneOtherRackWithAllHosts) {
  Racks racks(4);
  for (int host = 0; host < 64; ++host) racks[static_cast<std::size_t>(host / 16)].push_back(host);
  Random random(3);
  InterRackRounds between(racks, random);
  std::map<int, int> sent;
  for (int i = 0; i < 12; ++i) {
    const Round round = between.next();
    expect_matching(round);
    EXPECT_EQ(round.size(), 32u);
    std::map<int, std::set<int>> met;
    for (const HostPair& pair : round) {
      EXPECT_NE(pair.a / 16, pair.b / 16);
      met[pair.a / 16].insert(pair.b / 16);
      met[pair.b / 16].insert(pair.a / 16);
      ++sent[pair.a];
      ++sent[pair.b];
    }
    for (const auto& [from, to] : met) EXPECT_EQ(to.size(), 1u);
  }
  for (int host = 0; host < 64; ++host) EXPECT_EQ(sent[host], 12);
}

TEST(AcceptanceSchedule, SuspectsMeetAllGoodHostsInTurn) {
  Random random(5);
  PartnerRounds rounds({0, 10, 3, 4, 7, 8}, random);
  std::map<int, std::set<int>> partners;
  for (int i = 0; i < 6; ++i) {
    const Round round = rounds.next({1, 5});
    expect_matching(round);
    EXPECT_EQ(round.size(), 4u);
    for (const HostPair& pair : round) {
      if (pair.a == 1 || pair.a == 5) partners[pair.a].insert(pair.b);
      if (pair.b == 1 || pair.b == 5) partners[pair.b].insert(pair.a);
      EXPECT_NE(pair.a + pair.b, 6) << "1 and 5";
    }
  }
  EXPECT_EQ(partners[1].size(), 6u);
  EXPECT_EQ(partners[5].size(), 6u);
}

}  // namespace
}  // namespace ccl_tests::acceptance
