// Where ranks are when a wait has reached its limit, in words.
#include "src/bootstrap/rank_status.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

TEST(RankStatus, RanksThatDoTheSameStandTogether) {
  EXPECT_EQ(where_ranks_are({}), "");
  EXPECT_EQ(where_ranks_are({{0, 0, "X"}}), "rank 0 in X");
  EXPECT_EQ(where_ranks_are({{1, 0, "X"}, {0, 0, "X"}, {2, 0, "X"}}), "all 3 ranks in X");
  EXPECT_EQ(where_ranks_are({{0, 0, "X"}, {1, 0, "Y"}, {2, 0, "X"}, {3, 0, "X"}}),
            "ranks 0, 2 and 3 in X; rank 1 in Y");
}

TEST(RankStatus, AllAreStuckInOneCall) {
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}, {1, 7, "X"}, {2, 7, "X"}}),
            "all 3 ranks inside the same call: X");
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}}), "rank 0 inside X");
  // Rank 1 has told nothing: it is not the library that keeps all of them.
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}, {2, 7, "X"}}, false), "ranks 0 and 2 inside X");
}

TEST(RankStatus, WhoHasNotEnteredIsNamed) {
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}, {1, 6, "X"}, {2, 7, "X"}}),
            "ranks 0 and 2 inside X; rank 1 has not entered it");
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}, {1, 2, "X"}, {2, 2, "X"}}),
            "rank 0 inside X; ranks 1 and 2 have not entered it, nor the 2 before it");
  EXPECT_EQ(where_ranks_are({{0, 1, "X"}, {1, 0, "X"}}),
            "rank 0 inside X; rank 1 has not entered it");
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}, {1, 0, "Y"}, {2, 7, "X"}}),
            "ranks 0 and 2 inside X; rank 1 in Y");
}

TEST(RankStatus, WhoIsInAnotherCallIsNamed) {
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}, {1, 3, "X"}, {2, 7, "X"}}),
            "ranks 0 and 2 inside X; rank 1 is inside an earlier one, 2 before it");
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}, {1, 1, "Y"}, {2, 7, "X"}}),
            "ranks 0 and 2 inside X; rank 1 in another call, inside Y");
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}, {1, 2, "Y"}, {2, 7, "X"}}),
            "ranks 0 and 2 inside X; rank 1 in Y, outside the library");
}

TEST(RankStatus, WhoHasNotLeftIsNamed) {
  EXPECT_EQ(where_ranks_are({{0, 8, "X"}, {1, 7, "X"}, {2, 8, "X"}, {3, 6, "X"}}),
            "ranks 0 and 2 have left a call of X; rank 1 is inside it; rank 3 has not entered it");
  EXPECT_EQ(where_ranks_are({{0, 8, "X"}, {1, 8, "X"}}), "all 2 ranks in X, outside the library");
}

TEST(RankStatus, ManyRanksAreShortened) {
  std::vector<RankStatus> ranks;
  for (int r = 0; r < 100; ++r) ranks.push_back({r, 0, r == 50 ? "Y" : "X"});
  EXPECT_EQ(where_ranks_are(ranks), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 91 more in X; rank 50 in Y");
  for (RankStatus& d : ranks) d.text = std::to_string(d.rank);
  EXPECT_THAT(where_ranks_are(ranks), testing::EndsWith("rank 5 in 5; and others"));
}

TEST(RankStatus, LateRanksAreThoseThatOthersWaitFor) {
  using testing::ElementsAre;
  EXPECT_THAT(late_ranks({{0, 7, "X"}, {1, 6, "X"}, {2, 7, "X"}}), ElementsAre(1));
  EXPECT_THAT(late_ranks({{0, 7, "X"}, {2, 2, "X"}, {1, 2, "X"}}), ElementsAre(1, 2))
      << "rank 0 is inside a call that the others have not entered";
  EXPECT_THAT(late_ranks({{0, 7, "X"}, {1, 1, "Y"}, {2, 7, "X"}}), ElementsAre(1));
  EXPECT_THAT(late_ranks({{0, 8, "X"}, {1, 7, "X"}, {2, 8, "X"}, {3, 6, "X"}}), ElementsAre(1, 3));
  EXPECT_THAT(late_ranks({{0, 7, "X"}, {1, 7, "X"}}), ElementsAre()) << "one library keeps them";
  EXPECT_THAT(late_ranks({{0, 7, "X"}, {1, 7, "Y"}}), ElementsAre())
      << "each may wait for the other";
  EXPECT_THAT(late_ranks({}), ElementsAre());
}

TEST(RankStatus, Travels) {
  const std::vector<RankStatus> sent = {{3, 12, "in a row, with words"}, {4, 0, ""}};
  const std::vector<RankStatus> got = statuses_of(to_text(sent));
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].rank, 3);
  EXPECT_EQ(got[0].position, 12U);
  EXPECT_EQ(got[0].text, sent[0].text);
  EXPECT_EQ(got[1].text, "");
  EXPECT_TRUE(statuses_of("").empty());
}

TEST(RankStatus, NonsenseIsRefused) {
  EXPECT_EQ(statuses_of(to_text({{0, 0, "a\n\x1b[31mb"}})).front().text.find('\n'),
            std::string::npos);
  EXPECT_THROW(statuses_of("x"), Error);
  EXPECT_EQ(statuses_of(to_text({{0, 0, std::string(5000, 'x')}})).front().text.size(), 200U);
}

}  // namespace
}  // namespace ccl_tests
