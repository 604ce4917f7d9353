// The footer of many pairs: the bad link and the bad host are named.
#include "src/report/pair_notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace ccl_tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::vector<std::string> hosts = {"a", "a", "b", "b", "c", "c"};

Row row(std::size_t bytes, RankPair pair, double seconds) {
  Row row;
  row.bytes = bytes;
  row.pair = pair;
  for (Measurement* half : {&row.out_of_place, &row.in_place}) {
    half->seconds = seconds;
    half->messages_per_s = 1 / seconds;
  }
  return row;
}

std::vector<Row> all_pairs(int ranks, std::size_t bytes,
                           const std::function<double(int, int)>& seconds) {
  std::vector<Row> rows;
  for (int a = 0; a < ranks; ++a) {
    for (int b = a + 1; b < ranks; ++b) rows.push_back(row(bytes, {a, b}, seconds(a, b)));
  }
  return rows;
}

TEST(PairNotes, ABadLinkIsNamedWithItsHosts) {
  const auto rows = all_pairs(6, 8, [](int a, int b) { return a == 2 && b == 5 ? 40e-6 : 4e-6; });
  const auto lines = slowest_pairs(rows, hosts);
  EXPECT_EQ(lines[0],
            "8 B float: 15 pairs, median 4.00 us, slowest 2:5 (b, c) 40.00 us, 10.0 x the median");
  EXPECT_THAT(lines[1], HasSubstr("1.0 x the ranks' median"));
}

TEST(PairNotes, ABadHostShowsInAllPairsOfItsRank) {
  const auto rows = all_pairs(6, 8, [](int a, int b) { return a == 3 || b == 3 ? 12e-6 : 4e-6; });
  EXPECT_THAT(slowest_pairs(rows, hosts),
              Contains("8 B float: slowest rank 3 (b), median of its pairs 12.00 us, 3.0 x the "
                       "ranks' median"));
}

TEST(PairNotes, OneSlowHalfIsNoBadLink) {
  auto rows = all_pairs(3, 8, [](int, int) { return 4e-6; });
  rows[0].in_place.seconds = 1;
  EXPECT_THAT(slowest_pairs(rows, hosts)[0], HasSubstr("1.0 x the median"));
}

TEST(PairNotes, AMatrixOfTheFirstAndTheLastSize) {
  std::vector<Row> rows;
  for (const std::size_t bytes : {8U, 1000U, 4096U}) {
    for (const Row& r : all_pairs(4, bytes, [&](int a, int b) { return (a + 10 * b) * 1e-6; }))
      rows.push_back(r);
  }
  const auto lines = slowest_pairs(rows, hosts);
  EXPECT_THAT(lines, Contains("8 B float: time (us) between each two ranks"));
  EXPECT_THAT(lines, Contains("4096 B float: time (us) between each two ranks"));
  EXPECT_THAT(lines, Not(Contains("1000 B float: time (us) between each two ranks")));
  EXPECT_THAT(lines, Contains("  rank         0         1         2         3"));
  EXPECT_THAT(lines, Contains("     2     20.00     21.00         -     32.00"));
}

TEST(PairNotes, OnePairNeedsNoComparison) {
  EXPECT_THAT(slowest_pairs({row(8, {0, 1}, 4e-6)}, hosts), IsEmpty());
  EXPECT_THAT(slowest_pairs({row(8, {0, 1}, 0), row(8, {0, 2}, 0)}, hosts), IsEmpty());
  EXPECT_THAT(slowest_pairs({Row()}, hosts), IsEmpty());
}

TEST(PairNotes, MessageRates) {
  const std::vector<Row> two = {row(8, {0, 1}, 1e-6), row(8, {3, 2}, 2e-6)};
  EXPECT_THAT(message_rates({two[0]}, false),
              ElementsAre("8 B float: 1000000 messages/s, one direction"));
  EXPECT_THAT(message_rates(two, true),
              ElementsAre("8 B float: 1500000 messages/s of 2 pairs at once, one direction"));
  EXPECT_THAT(
      message_rates(two, false),
      ElementsAre("8 B float: 500000 to 1000000 messages/s, each of 2 pairs, one direction"));
}

}  // namespace
}  // namespace ccl_tests
