// --reproducible: the bits of results, over calls, ranks, placements, alignments and orders.
#include <gmock/gmock.h>

#include <set>

#include "tests/ranks/faulty.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The rows' own calls are 0 to 9, out of place and in place; then come 8 calls that are alike, 4 in
// place, 4 elsewhere and 6 with the ranks' data exchanged.
constexpr int first = 10, in_place = 18, elsewhere = 22, exchanged = 26, end = 32;

class Reproducible : public testing::TestWithParam<int> {
 protected:
  Options repeated(std::size_t bytes = 40'000) const {
    Options o = quick(GetParam());
    o.sweep.sizes = {bytes};
    o.check.reproducible = true;
    o.measure.row_time_s = 0;  // the faults count calls: as many on a slow machine
    return o;
  }
  // Flips the last bit of an element in calls [from, to) of one rank.
  static Outcome flipped(const Options& o, int rank, int from, int to, std::size_t element = 100) {
    Fault fault;
    fault.after = [=](int r, int number, const Call& call) {
      if (r == rank && number >= from && number < to)
        static_cast<std::byte*>(call.recv)[element * 4] ^= std::byte{1};
    };
    return run(collectives::all_reduce, o, FaultyBackend(fault));
  }
  void expect_varies(const Outcome& outcome, int rank, const char* between,
                     std::uint64_t element = 100) const {
    EXPECT_EQ(outcome.exit_code, 7) << outcome.text();
    EXPECT_EQ(outcome.summary.verdict, Verdict::varies);
    EXPECT_EQ(outcome.summary.failed_checks, 0U);
    ASSERT_EQ(outcome.rows.size(), 1U);
    const Reproduction& found = *outcome.rows[0].reproduction;
    EXPECT_EQ(found.verdict, Reproducibility::varies);
    EXPECT_THAT(found.varies_between, ElementsAre(between));
    EXPECT_EQ(found.difference_rank, rank);
    EXPECT_EQ(found.difference_index, element);
    EXPECT_EQ(found.difference_ulps, 1U);
    EXPECT_THAT(outcome.summary.reproduction->first_varying, HasSubstr(between));
  }
  int last() const { return GetParam() - 1; }
};
INSTANTIATE_TEST_SUITE_P(Ranks, Reproducible, testing::Values(1, 3, 4));
class ReproducibleAmongRanks : public Reproducible {};
INSTANTIATE_TEST_SUITE_P(Ranks, ReproducibleAmongRanks, testing::Values(3, 4));

// Loopback adds in the order of the ranks.
TEST_P(Reproducible, ReductionsAreStableAndIntegersOrderIndependent) {
  for (const Collective* collective :
       {&collectives::all_reduce, &collectives::reduce, &collectives::reduce_scatter,
        &collectives::reduce_scatterv}) {
    Options o = repeated();
    o.sweep.types = {DataType::float32, DataType::half, DataType::int32};
    o.sweep.ops = {ReduceOp::sum, ReduceOp::max};
    const Outcome outcome = run(*collective, o, LoopbackBackend());
    EXPECT_EQ(outcome.exit_code, 0) << collective->name << outcome.text();
    ASSERT_EQ(outcome.rows.size(), 6U);
    for (const Row& row : outcome.rows) {
      ASSERT_TRUE(row.reproduction);
      const bool rounded = GetParam() > 2 && row.op == ReduceOp::sum && row.type != DataType::int32;
      EXPECT_EQ(row.reproduction->verdict,
                rounded ? Reproducibility::stable : Reproducibility::order_independent)
          << collective->name << " " << name(row.type) << " " << name(*row.op);
      EXPECT_EQ(row.reproduction->calls, 22U);
    }
    EXPECT_EQ(outcome.summary.reproduction->varying, 0U);
  }
}

TEST_P(Reproducible, EveryOperationAndRowHasItsDigest) {
  Options o = repeated();
  o.sweep.sizes = {0, 4, 8, 24, 1'100'004};
  o.sweep.ops = {ReduceOp::sum, ReduceOp::mulsum};
  std::set<std::string> digests;
  const Outcome outcome = run(collectives::all_reduce, o, LoopbackBackend());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  for (const Row& row : outcome.rows) {
    EXPECT_EQ(row.reproduction.has_value(), row.bytes > 0);
    if (!row.reproduction) continue;
    if (row.op == ReduceOp::mulsum) {
      EXPECT_EQ(row.reproduction->verdict, Reproducibility::stable);
    } else {
      EXPECT_TRUE(digests.insert(row.reproduction->digest).second || GetParam() == 1) << row.bytes;
    }
  }
  const Outcome again = run(collectives::all_reduce, o, LoopbackBackend());
  for (std::size_t r = 0; r < outcome.rows.size(); ++r)
    if (outcome.rows[r].reproduction) {
      EXPECT_EQ(again.rows[r].reproduction->digest, outcome.rows[r].reproduction->digest);
    }
}

TEST_P(Reproducible, ACallThatDiffersIsFound) {
  for (const int call : {first + 1, first + 7})
    expect_varies(flipped(repeated(), last(), call, call + 1), last(), "calls");
}

// In any of them: the first one is that which others are compared with.
TEST_P(Reproducible, TheFirstCallThatDiffersIsFound) {
  expect_varies(flipped(repeated(), last(), first, first + 1), last(), "calls");
}

TEST_P(Reproducible, OneInPlaceCallThatDiffersIsNotThePlacement) {
  expect_varies(flipped(repeated(), last(), in_place + 2, in_place + 3), last(), "calls");
}

TEST_P(Reproducible, PlacementsThatDifferAreFound) {
  expect_varies(flipped(repeated(), last(), in_place, elsewhere), last(), "placements");
}

TEST_P(Reproducible, AlignmentsThatDifferAreFound) {
  expect_varies(flipped(repeated(), last(), elsewhere, exchanged), last(), "alignments");
}

TEST_P(Reproducible, OrdersMayDiffer) {
  const Outcome outcome = flipped(repeated(), last(), exchanged, end, 0);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.rows[0].reproduction->verdict, Reproducibility::stable);
  EXPECT_EQ(outcome.rows[0].reproduction->difference_index, 0U);
}

TEST_P(ReproducibleAmongRanks, RanksThatDifferAreFound) {
  expect_varies(flipped(repeated(), 1, first, end), 1, "ranks");
  // Beyond the first piece of what is compared.
  expect_varies(flipped(repeated(3'000'000), 2, first, end, 700'000), 2, "ranks", 700'000);
  // Rank 0 is as suspect as the others; they say where.
  const Outcome outcome = flipped(repeated(), 0, first, end);
  EXPECT_THAT(outcome.rows[0].reproduction->varies_between, ElementsAre("ranks"));
}

TEST_P(Reproducible, RunsThatDifferAreFound) {
  Options o = repeated();
  o.sweep.cycles = 2;
  const Outcome same = run(collectives::all_reduce, o, LoopbackBackend());
  EXPECT_EQ(same.exit_code, 0) << same.text();
  // All calls of the second cycle's row, on all ranks alike.
  Fault fault;
  fault.after = [](int, int number, const Call& call) {
    if (number >= end + first) static_cast<std::byte*>(call.recv)[0] ^= std::byte{1};
  };
  const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(fault));
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.rows[1].reproduction->varies_between, ElementsAre("rows"));
  EXPECT_EQ(outcome.summary.reproduction->varying, 1U);
}

TEST(ReproducibleGroups, AreJudgedEachForItself) {
  Options o = quick(4);
  o.sweep.sizes = {40'000};
  o.check.reproducible = true;
  o.sweep.grouping = parse_split_rule("%2");
  Fault fault;
  fault.after = [](int rank, int number, const Call& call) {
    if (rank == 1 && number == first + 3 && call.self.group == 0)
      static_cast<std::byte*>(call.recv)[0] ^= std::byte{1};
  };
  for (const bool rows : {false, true}) {
    o.sweep.group_rows = rows;
    const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(fault));
    EXPECT_EQ(outcome.exit_code, 7);
    ASSERT_EQ(outcome.rows.size(), rows ? 2U : 1U);
    // Rank 1 of the group of the even ranks.
    EXPECT_EQ(outcome.rows[0].reproduction->difference_rank, 2);
    if (rows) {
      EXPECT_EQ(outcome.rows[1].reproduction->verdict, Reproducibility::order_independent);
    }
  }
}

}  // namespace
}  // namespace ccl_tests::test
