// Tests what the footer says of many pairs: their times as a matrix, and their rates.
#include "src/judge/pair_rows.hpp"

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

TEST(PairRows, AMatrixOfTheFirstAndTheLastSize) {
  std::vector<Row> rows;
  for (const std::size_t bytes : {8U, 1000U, 4096U}) {
    for (const Row& r : all_pairs(4, bytes, [&](int a, int b) { return (a + 10 * b) * 1e-6; }))
      rows.push_back(r);
  }
  const auto lines = pair_matrices(rows, {});
  EXPECT_THAT(lines, Contains("8 B float: time (us) between each two ranks"));
  EXPECT_THAT(lines, Contains("4096 B float: time (us) between each two ranks"));
  EXPECT_THAT(lines, Not(Contains("1000 B float: time (us) between each two ranks")));
  EXPECT_THAT(lines, Contains("  rank         0         1         2         3"));
  EXPECT_THAT(lines, Contains("     2     20.00     21.00         -     32.00"));
}

TEST(PairRows, AMatrixOfOnePlacement) {
  for (Measurement Row::*const left_out : {&Row::out_of_place, &Row::in_place}) {
    std::vector<Row> rows = all_pairs(4, 8, [](int a, int b) { return (a + 10 * b) * 1e-6; });
    for (Row& row : rows) {
      row.*left_out = Measurement();
      (row.*left_out).left_out = true;
    }
    EXPECT_THAT(pair_matrices(rows, {}),
                Contains("     2     20.00     21.00         -     32.00"));
  }
}

TEST(PairRows, NoMatrixOfFewRanksOrSomePairs) {
  EXPECT_THAT(pair_matrices({row(8, {0, 1}, 4e-6)}, {}), IsEmpty());
  EXPECT_THAT(pair_matrices(all_pairs(3, 8, [](int, int) { return 4e-6; }), {}), IsEmpty());
  EXPECT_THAT(pair_matrices({row(8, {0, 1}, 0), row(8, {0, 2}, 0)}, {}), IsEmpty());
  EXPECT_THAT(pair_matrices({Row()}, {}), IsEmpty());
}

TEST(PairRows, OfManyRanksTheFileIsNamedThatHasTheTimes) {
  const auto rows = all_pairs(17, 8, [](int, int) { return 4e-6; });
  EXPECT_THAT(
      pair_matrices(rows, {}),
      ElementsAre("the times between each two ranks are printed of at most 16, not of 17; -J "
                  "run.jsonl keeps them, in rows with a pair"));
  EXPECT_THAT(pair_matrices(rows, {"a.xml", "b.jsonl", "c.csv"}),
              ElementsAre(HasSubstr("not of 17; b.jsonl has them, in rows with a pair")));
}

TEST(PairRows, MessageRates) {
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
