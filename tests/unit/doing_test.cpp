// Where ranks are when a wait has reached its limit, in words.
#include "src/bootstrap/doing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

TEST(Doing, RanksThatDoTheSameStandTogether) {
  EXPECT_EQ(where_ranks_are({}), "");
  EXPECT_EQ(where_ranks_are({{0, 1, "X"}}), "rank 0 in X");
  EXPECT_EQ(where_ranks_are({{1, 7, "X"}, {0, 7, "X"}, {2, 7, "X"}}), "all 3 ranks in X");
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}, {1, 9, "Y"}, {2, 7, "X"}, {3, 7, "X"}}),
            "ranks 0, 2 and 3 in X; rank 1 in Y");
}

TEST(Doing, WhoIsBehindIsNamed) {
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}, {1, 4, "X"}, {2, 7, "X"}}),
            "ranks 0 and 2 in X; rank 1 there, 3 steps behind");
  EXPECT_EQ(where_ranks_are({{0, 7, "X"}, {1, 6, "X"}}),
            "rank 0 in X; rank 1 there, 1 step behind");
}

TEST(Doing, ManyRanksAreShortened) {
  std::vector<Doing> ranks;
  for (int r = 0; r < 100; ++r) ranks.push_back({r, 1, r == 50 ? "Y" : "X"});
  EXPECT_EQ(where_ranks_are(ranks), "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 91 more in X; rank 50 in Y");
  for (Doing& d : ranks) d.text = std::to_string(d.rank);
  EXPECT_THAT(where_ranks_are(ranks), testing::EndsWith("rank 5 in 5; and others"));
}

TEST(Doing, Travels) {
  const std::vector<Doing> sent = {{3, 12, "in a row, with words"}, {4, 0, ""}};
  const std::vector<Doing> got = doing_of(to_text(sent));
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].rank, 3);
  EXPECT_EQ(got[0].steps, 12U);
  EXPECT_EQ(got[0].text, sent[0].text);
  EXPECT_EQ(got[1].text, "");
  EXPECT_TRUE(doing_of("").empty());
}

TEST(Doing, NonsenseIsRefused) {
  EXPECT_EQ(doing_of(to_text({{0, 0, "a\n\x1b[31mb"}})).front().text.find('\n'), std::string::npos);
  EXPECT_THROW(doing_of("x"), Error);
  EXPECT_EQ(doing_of(to_text({{0, 0, std::string(5000, 'x')}})).front().text.size(), 200U);
}

}  // namespace
}  // namespace ccl_tests
