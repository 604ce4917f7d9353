// --beside: rows have ratios beside their times, and what goes wrong beside the load is found.
#include <gmock/gmock.h>

#include <atomic>

#include "tests/ranks/faulty.hpp"
#include "tests/ranks/on_backend.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

Options beside(int ranks, LoadKind kind) {
  Options o = quick(ranks);
  o.sweep.sizes = {40'000};
  o.measure.beside = kind;
  o.measure.row_time_s = 0.1;  // the fewest rounds
  return o;
}

void expect_ratio(const Ratio& ratio) {
  EXPECT_GT(ratio.value, 0);
  if (!ratio.low) return;
  EXPECT_LE(*ratio.low, ratio.value);
  EXPECT_GE(*ratio.high, ratio.value);
}

class Beside : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, Beside, every_backend);

TEST_P(Beside, RowsSayWhatBothSidesLose) {
  for (const LoadKind kind : {LoadKind::cpu, LoadKind::memory}) {
    const Outcome outcome = run(collectives::all_reduce, beside(ranks(), kind), *backend_);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    const Row& row = outcome.rows.at(0);
    ASSERT_TRUE(row.beside);
    EXPECT_EQ(row.beside->load, name(kind));
    EXPECT_GE(row.beside->rounds, 6U);
    expect_ratio(row.beside->time);
    expect_ratio(row.beside->work);
    EXPECT_GT(row.beside->work_per_s, 0);
    // A batch of 3 calls and a checked one, and at least 6 rounds of 4 blocks, each checked.
    EXPECT_GT(row.out_of_place.calls, 24U);
    EXPECT_GT(row.out_of_place.verified_calls, 24U);
    EXPECT_LT(row.in_place.calls, 24U);
    EXPECT_EQ(row.out_of_place.wrong, 0U);
  }
}

TEST_P(Beside, InPlaceAndRootedAndSynchronizingRowsToo) {
  Options o = beside(ranks(), LoadKind::cpu);
  o.sweep.placements = Placements::in_place;
  const Outcome in_place = run(collectives::all_reduce, o, *backend_);
  ASSERT_EQ(in_place.exit_code, 0) << in_place.text();
  EXPECT_TRUE(in_place.rows.at(0).beside);
  EXPECT_EQ(in_place.rows.at(0).out_of_place.calls, 0U);
  for (const Collective* program : {&collectives::broadcast, &collectives::barrier}) {
    if (!at_one_number(ranks())) continue;
    const Outcome outcome = run(*program, beside(ranks(), LoadKind::cpu), *backend_);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_TRUE(outcome.rows.at(0).beside) << program->name;
  }
}

TEST(BesideRows, HaveNothingUnasked) {
  EXPECT_FALSE(run(collectives::all_reduce, quick(3), LoopbackBackend()).rows.at(0).beside);
}

// One pair of four ranks at a time: those that rest come to every barrier.
TEST(BesideRows, ArePairsToo) {
  Options o = beside(4, LoadKind::cpu);
  o.sweep.sizes = {8};
  o.sweep.pairing.list = {{0, 1}, {3, 2}};
  const Outcome outcome = run(collectives::pingpong, o, LoopbackBackend());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  ASSERT_EQ(outcome.rows.size(), 2U);
  for (const Row& row : outcome.rows) EXPECT_TRUE(row.beside);
}

// Every call from the 20th on is wrong on the last rank: the row's own calls are 10.
TEST(BesideRows, FindWrongDataThatOnlyTheLoadBrings) {
  for (const int ranks : {1, 3, 4}) {
    Fault fault;
    fault.after = [&](int rank, int number, const Call& call) {
      if (rank == ranks - 1 && number >= 20) *static_cast<std::byte*>(call.recv) ^= std::byte{1};
    };
    const Outcome outcome =
        run(collectives::all_reduce, beside(ranks, LoadKind::cpu), FaultyBackend(fault));
    EXPECT_EQ(outcome.exit_code, 7);
    EXPECT_GT(outcome.rows.at(0).out_of_place.wrong, 0U);
    EXPECT_EQ(outcome.rows.at(0).out_of_place.failed_ranks, 1U);
    EXPECT_EQ(outcome.rows.at(0).in_place.wrong, 0U);
    EXPECT_THAT(outcome.text(), testing::HasSubstr("out of place, beside cpu"));
    EXPECT_THAT(outcome.text(), testing::HasSubstr("rank " + std::to_string(ranks - 1) + " on "));
  }
}

TEST(BesideRows, NeedAGpuForCopies) {
  const Outcome outcome =
      run(collectives::all_reduce, beside(3, LoadKind::copy), LoopbackBackend());
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.text(), testing::HasSubstr("--beside: copy needs a GPU"));
}

}  // namespace
}  // namespace ccl_tests::test
