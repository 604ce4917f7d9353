// A sweep that is measured several times: every pass in the files, and a row that stands for them.
#include <gmock/gmock.h>

#include "tests/ranks/faulty.hpp"
#include "tests/ranks/on_backend.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

using testing::Contains;

class Passes : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, Passes, every_backend);

TEST_P(Passes, AreTakenInShuffledOrderAndCombinedInTheLast) {
  for (const bool stream : {false, true}) {
    Options o = quick(ranks());
    o.measure.batch = !stream;
    o.measure.warmup_given = !stream;
    o.measure.precision = 1;
    o.sweep.sizes = {8, 16, 1000, 2000};
    o.sweep.passes = 3;
    o.sweep.ops = {ReduceOp::sum, ReduceOp::max};
    const Outcome outcome = run(collectives::all_reduce, o, *backend_);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const std::size_t cells = 2 * o.sweep.sizes.size();
    ASSERT_EQ(outcome.rows.size(), 4 * cells);
    std::vector<Row> first, last, all;
    for (const Row& row : outcome.rows)
      (!row.pass ? all : *row.pass == 1 ? first : last).push_back(row);
    ASSERT_EQ(all.size(), cells);
    ASSERT_EQ(first.size(), cells);
    for (std::size_t k = 0; k < cells; ++k) {
      EXPECT_EQ(all[k].bytes, o.sweep.sizes[k % 4]);
      EXPECT_EQ(all[k].op, o.sweep.ops[k / 4]);
      EXPECT_EQ(all[k].passes, 3);
      EXPECT_EQ(all[k].out_of_place.stream.has_value(), stream);
      EXPECT_TRUE(all[k].out_of_place.pass_spread);
    }
    const auto same = [](const Row& a, const Row& b) { return a.bytes == b.bytes && a.op == b.op; };
    EXPECT_FALSE(std::equal(first.begin(), first.end(), all.begin(), same));
    EXPECT_EQ(outcome.summary.rows, cells);
    // Calls in place of one rank that take less than 1 us do nothing, and no interval counts.
    EXPECT_GE(outcome.summary.times, stream ? (ranks() > 1 ? 2 : 1) * cells : 0);
    EXPECT_LE(outcome.summary.times, stream ? 2 * cells : 0);
  }
}

TEST_P(Passes, OfGroupsAreCombinedGroupByGroup) {
  Options o = quick(ranks());
  o.sweep.grouping = parse_split_rule("mod 2");
  o.sweep.group_rows = true;
  o.sweep.sizes = {8, 1000};
  o.sweep.passes = 2;
  const Outcome outcome = run(collectives::all_reduce, o, *backend_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  const int groups = std::min(2, ranks());
  std::vector<int> seen;
  for (const Row& row : outcome.rows)
    if (!row.pass) seen.push_back(row.group.value());
  ASSERT_EQ(seen.size(), static_cast<std::size_t>(2 * groups));
  for (std::size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k], static_cast<int>(k) % groups);
}

// The first pass is whole, the second is not.
TEST(PassFaults, WhatWasMeasuredIsWrittenWhenARankFails) {
  for (const int ranks : {1, 3, 4}) {
    Fault fault;
    std::atomic<bool> failing = false;
    fault.before = [&](int rank, int number, Call&) {
      constexpr int of_a_row =
          2 * (2 + 3);  // both placements: a warm-up, a checked and timed calls
      if (rank == ranks - 1 && number == 3 * of_a_row + 1) {
        failing = true;
        throw Error("broken");
      }
      return true;
    };
    Options o = quick(ranks);
    o.sweep.passes = 2;
    const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(fault));
    EXPECT_TRUE(failing);
    EXPECT_EQ(outcome.exit_code, exit_code(Exit::failed));
    ASSERT_EQ(outcome.rows.size(), 6U) << outcome.text();
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(outcome.rows[k].pass, 1);
      EXPECT_FALSE(outcome.rows[3 + k].pass);
      EXPECT_EQ(outcome.rows[3 + k].bytes, o.sweep.sizes[k]);
    }
    EXPECT_EQ(outcome.summary.rows, 3U);
    EXPECT_EQ(outcome.summary.verdict, Verdict::incomplete);
    EXPECT_THAT(outcome.summary.notes, Contains("3 rows of fewer than 2 passes"));
  }
}

}  // namespace
}  // namespace ccl_tests::test
