// What the ranks' findings say together, and how it is told.
#include "src/core/error.hpp"
#include "src/run/reproduction_check.hpp"

#include <gmock/gmock.h>

#include "src/record/reproductions.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

RankReproduction rank(const char* digest) {
  RankReproduction found;
  found.digest = digest;
  found.calls = 20;
  found.orders_tried = true;
  return found;
}

BitDifference& between(RankReproduction& found, Between what) { return found.differences[what]; }

TEST(Reproduction, IsOrderIndependentIfNothingDiffers) {
  const Reproduction found = *reproduction_of({rank("1"), rank("1"), rank("1")}, {0, 1, 2});
  EXPECT_EQ(found.verdict, Reproducibility::order_independent);
  EXPECT_EQ(found.calls, 20U);
  EXPECT_EQ(found.digest.size(), 16U);
  EXPECT_EQ(found.difference, "");
}

TEST(Reproduction, IsStableIfOnlyOrdersDiffer) {
  std::vector<RankReproduction> ranks = {rank("1"), rank("1"), rank("1")};
  between(ranks[0], Between::orders) = {9, 1, "1 and 2"};
  between(ranks[2], Between::orders) = {5, 2, "3 and 4"};
  const Reproduction found = *reproduction_of(ranks, {0, 1, 2});
  EXPECT_EQ(found.verdict, Reproducibility::stable);
  EXPECT_EQ(found.difference_rank, 2);
  EXPECT_EQ(found.difference_index, 5U);
  EXPECT_EQ(found.difference_ulps, 2U);
  EXPECT_EQ(found.difference, "3 and 4");
}

TEST(Reproduction, IsStableIfOrdersCouldNotBeTried) {
  std::vector<RankReproduction> ranks = {rank("1"), rank("1")};
  ranks[1].orders_tried = false;
  EXPECT_EQ(reproduction_of(ranks, {0, 1})->verdict, Reproducibility::stable);
}

TEST(Reproduction, VariesIfAnythingElseDiffers) {
  std::vector<RankReproduction> ranks = {rank("1"), rank("2"), rank("1")};
  between(ranks[1], Between::alignments) = {3, 1, "a"};
  between(ranks[1], Between::ranks) = {8, 1, "b"};
  between(ranks[2], Between::orders) = {0, 1, "c"};
  const Reproduction found = *reproduction_of(ranks, {0, 1, 2});
  EXPECT_EQ(found.verdict, Reproducibility::varies);
  EXPECT_THAT(found.varies_between, ElementsAre("ranks", "alignments"));
  EXPECT_EQ(found.difference, "b");
  // Between calls that are alike: then nothing else can be told.
  between(ranks[0], Between::calls) = {1, 1, "d"};
  EXPECT_THAT(reproduction_of(ranks, {0, 1, 2})->varies_between, ElementsAre("calls"));
}

TEST(Reproduction, OfAGroupIsOfItsMembers) {
  std::vector<RankReproduction> ranks = {rank("1"), rank("2"), rank("1"), rank("2")};
  between(ranks[3], Between::calls) = {7, 1, "x"};
  const Reproduction even = *reproduction_of(ranks, {0, 2}), odd = *reproduction_of(ranks, {1, 3});
  EXPECT_EQ(even.verdict, Reproducibility::order_independent);
  EXPECT_EQ(odd.verdict, Reproducibility::varies);
  EXPECT_EQ(odd.difference_rank, 3);
  const auto both = combined(std::vector<Reproduction>{even, odd});
  EXPECT_EQ(both.verdict, Reproducibility::varies);
  EXPECT_NE(both.digest, odd.digest);
  EXPECT_EQ(combined(std::vector<Reproduction>{odd}).digest, odd.digest);
}

TEST(Reproduction, DigestsDependOnWhichRankHasWhat) {
  EXPECT_NE(reproduction_of({rank("1"), rank("2")}, {0, 1})->digest,
            reproduction_of({rank("2"), rank("1")}, {0, 1})->digest);
}

TEST(Reproduction, TravelsWhole) {
  RankReproduction found = rank("0123456789abcdef");
  between(found, Between::placements) = {~std::uint64_t{0}, 1, "1 and 2"};
  const RankReproduction back = rank_reproduction(to_text(found));
  EXPECT_EQ(back.digest, found.digest);
  EXPECT_EQ(back.calls, 20U);
  EXPECT_TRUE(back.orders_tried);
  ASSERT_EQ(back.differences.size(), 1U);
  EXPECT_EQ(back.differences.at(Between::placements).index, ~std::uint64_t{0});
  EXPECT_EQ(back.differences.at(Between::placements).values, "1 and 2");
  EXPECT_THROW(rank_reproduction("?"), Error);
}

Row row_of(Reproduction found) {
  Row row;
  row.bytes = 1024;
  row.count = 256;
  row.op = ReduceOp::sum;
  row.reproduction = std::move(found);
  return row;
}

TEST(ReproductionText, SaysWhatDiffersWhereAndByHowMuch) {
  Reproduction found{Reproducibility::varies, {"calls"}, 20, "0123456789abcdef"};
  found.difference_rank = 2;
  found.difference_index = 5;
  found.difference_ulps = 3;
  found.difference = "1 (0x3f800000) and 2 (0x40000000)";
  EXPECT_EQ(reproduction_text(row_of(found)),
            "VARIES between calls: element 5 of rank 2, 1 (0x3f800000) and 2 (0x40000000), 3 ulp "
            "apart (20 calls)");
  found.verdict = Reproducibility::stable;
  EXPECT_EQ(
      reproduction_text(row_of(found)),
      "stable (20 calls, digest 0123456789abcdef); the bits depend on which rank has which "
      "data, for example element 5 of rank 2, 1 (0x3f800000) and 2 (0x40000000), 3 ulp apart");
  found.difference.clear();
  EXPECT_THAT(reproduction_text(row_of(found)), HasSubstr("other orders were not tried"));
  EXPECT_EQ(
      reproduction_text(row_of({Reproducibility::order_independent, {}, 20, "0123456789abcdef"})),
      "order-independent (20 calls, digest 0123456789abcdef)");
}

TEST(ReproductionText, CountsRows) {
  RunSummary run;
  auto& summary = run.reproduction;
  add_reproduction(summary, Row(), 8);
  EXPECT_FALSE(summary);
  add_reproduction(summary, row_of({Reproducibility::stable, {}, 20, "1", "runs", "1"}), 1024);
  EXPECT_EQ(reproduction_text(run), "the same again - 1 row: 0 order-independent, 1 stable");
  summary->digests = "sums";
  EXPECT_EQ(reproduction_text(run),
            "the same again - 1 row: 0 order-independent, 1 stable; 1 compared with sums");
  summary->digests = "";
  add_reproduction(summary, row_of({Reproducibility::varies, {"ranks"}, 20, "1"}), 1024);
  add_reproduction(summary, row_of({Reproducibility::varies, {"calls"}, 20, "1"}), 2048);
  EXPECT_EQ(reproduction_text(run), "vary - in 2 of 3 rows; first: 1024 B float sum between ranks");
  run.complete = false;
  EXPECT_THAT(reproduction_text(run), testing::StartsWith("so far vary - "));
}

TEST(ReproductionText, DigestsOfOtherRunsAreCompared) {
  RunInfo run;
  run.program = "all_reduce_perf";
  run.ranks = 3;
  run.options.check.seed = 1;
  DigestFile digests;
  Row row = row_of({Reproducibility::stable, {}, 20, "0123456789abcdef"});
  EXPECT_EQ(digest_name(run, row), "all_reduce_perf float sum, 256 elements, 3 ranks, seed 1");
  compare_digests(digests, run, row);
  EXPECT_EQ(row.reproduction->compared_with, "");
  compare_digests(digests, run, row);
  EXPECT_EQ(row.reproduction->verdict, Reproducibility::stable);
  EXPECT_EQ(row.reproduction->compared_with, "rows");
  row.reproduction->digest = "0123456789abcdee";
  row.reproduction->difference = "1 and 2";  // of another order
  row.reproduction->difference_ulps = 8;
  compare_digests(digests, run, row);
  EXPECT_EQ(row.reproduction->verdict, Reproducibility::varies);
  EXPECT_FALSE(row.reproduction->difference_ulps);
  EXPECT_EQ(reproduction_text(row),
            "VARIES between rows; digest 0123456789abcdee, before 0123456789abcdef (20 calls)");
}

// The next run would be measured by them.
TEST(ReproductionText, DigestsOfWrongAndVaryingRowsAreNotKept) {
  const RunInfo run;
  DigestFile digests;
  Row varying = row_of({Reproducibility::varies, {"calls"}, 20, "1"});
  compare_digests(digests, run, varying);
  Row wrong = row_of({Reproducibility::stable, {}, 20, "2"});
  wrong.in_place.failed_ranks = 1;
  compare_digests(digests, run, wrong);
  Row right = row_of({Reproducibility::stable, {}, 20, "3"});
  compare_digests(digests, run, right);
  EXPECT_EQ(right.reproduction->verdict, Reproducibility::stable);
  EXPECT_EQ(right.reproduction->known_digest, "");
}

// In groups, and with blocks of other lengths, a rank reduces other data.
TEST(ReproductionText, DigestsAreOfTheGroupsAndTheBlocks) {
  RunInfo run;
  const Row row = row_of({Reproducibility::stable, {}, 20, "1"});
  const std::string plain = digest_name(run, row);
  run.settings = {{"group", ""}, {"skew", "equal"}};
  EXPECT_EQ(digest_name(run, row), plain);
  run.settings = {{"group", "mod 2"}, {"skew", "linear"}};
  EXPECT_EQ(digest_name(run, row), plain + ", group mod 2, skew linear");
}

TEST(Reproduction, OfNothingIsNone) {
  EXPECT_FALSE(reproduction_of({rank(""), rank("")}, {0, 1}));
  EXPECT_TRUE(reproduction_of({rank("1"), rank("")}, {0, 1}));
}

}  // namespace
}  // namespace ccl_tests
