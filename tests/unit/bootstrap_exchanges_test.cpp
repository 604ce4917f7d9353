#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/bootstrap/exchanges.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
constexpr auto gather = ExchangeKind::gather, broadcast = ExchangeKind::broadcast;

TEST(TeamExchanges, RefuseAContributionOutOfTurn) {
  TeamExchanges pair({"", {0, 1}});
  pair.add(0, {0, 0, "a"});
  EXPECT_THROW(pair.add(0, {0, 0, "a"}), Error);
  EXPECT_THROW(pair.add(1, {1, 0, "b"}), Error);
  EXPECT_THROW(pair.add(2, {0, 0, "b"}), Error);
  pair.add(1, {0, 0, "b"});
  ASSERT_TRUE(pair.complete());
  EXPECT_THAT(pair.take().bytes, ElementsAre("a", "b"));
  EXPECT_FALSE(pair.under_way());
}

TEST(TeamExchanges, OfOneWhoDoesNotWaitAreKeptInOrder) {
  TeamExchanges team({"", {0, 1, 2}});
  for (std::uint64_t round = 0; round < 3; ++round)
    team.add(2, {round, 0, std::to_string(round), {}, gather});
  EXPECT_FALSE(team.complete());
  for (std::uint64_t round = 0; round < 3; ++round) {
    team.add(0, {round, 0, "a", {}, gather});
    EXPECT_FALSE(team.complete());
    team.add(1, {round, 0, "b", {}, gather});
    ASSERT_TRUE(team.complete());
    const Round result = team.take();
    EXPECT_EQ(result.number, round);
    EXPECT_THAT(result.bytes, ElementsAre("a", "b", std::to_string(round)));
  }
}

TEST(TeamExchanges, ABroadcastIsTheRootsTextOnly) {
  TeamExchanges team({"", {1, 3}, 3});
  team.add(1, {0, 0, "ignored", {}, broadcast});
  team.add(3, {0, 0, "root", {}, broadcast});
  EXPECT_THAT(team.take().bytes, ElementsAre("root"));
}

TEST(TeamExchanges, TellWhoMadeAnotherCall) {
  TeamExchanges team({"", {0, 1}});
  EXPECT_FALSE(team.add(1, {0, 0, "", {}, gather}));
  const auto other = team.add(0, {0, 0, "", {}, broadcast});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->process, 1);
  EXPECT_EQ(other->kind, gather);
}

TEST(Exchanges, TeamsDoNotWaitForEachOther) {
  Exchanges all(4);
  EXPECT_FALSE(all.add(3, {0, 5, "d", {"odd", {1, 3}, 1}}).team.complete());
  EXPECT_FALSE(all.add(0, {0, 5, "a", {"even", {0, 2}}}).team.complete());
  TeamExchanges& even = all.add(2, {0, 5, "c", {"even", {0, 2}}}).team;
  ASSERT_TRUE(even.complete());
  EXPECT_THAT(even.take().bytes, ElementsAre("a", "c"));
  EXPECT_THAT(all.missing(), ElementsAre(1));
  EXPECT_THAT(all.missing(std::chrono::steady_clock::now()), testing::IsEmpty());
  EXPECT_FALSE(all.add(0, {1, 5, "a", {"even", {}}}).team.complete());
  EXPECT_THAT(all.missing(), ElementsAre(1, 2));
}

TEST(Exchanges, RefuseTeamsThatAreNotValid) {
  Exchanges all(4);
  EXPECT_THROW(all.add(0, {0, 0, "", {"x", {}}}), Error);
  EXPECT_THROW(all.add(0, {0, 0, "", {"x", {0, 4}}}), Error);
  EXPECT_THROW(all.add(0, {0, 0, "", {"x", {1, 0}}}), Error);
  EXPECT_THROW(all.add(0, {0, 0, "", {"x", {0, 0}}}), Error);
  EXPECT_THROW(all.add(0, {0, 0, "", {"x", {1, 2}, 1}}), Error);
  EXPECT_THROW(all.add(0, {0, 0, "", {"x", {0, 2}, 1}}), Error);
  EXPECT_THROW(all.add(0, {1, 0, "", {}}), Error);
}

}  // namespace
}  // namespace ccl_tests
