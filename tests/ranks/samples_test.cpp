// Rows that are single samples: right, with an interval, and with the bracket of the time.
#include <gmock/gmock.h>

#include "tests/ranks/intervals.hpp"
#include "tests/ranks/on_backend.hpp"

namespace ccl_tests::test {
namespace {

Options samples(int ranks) {
  Options o = with_intervals(ranks);
  o.measure.samples = true;
  o.measure.time_budget_s = 0.2;
  return o;
}

void expect_samples(const Measurement& cell, std::size_t ranks) {
  ASSERT_TRUE(cell.stream && cell.samples);
  const SampleTimes& s = *cell.samples;
  EXPECT_GE(cell.stream->stamps, 6U);
  // Absent where neighbours are so much alike that they tell no more than five samples would.
  EXPECT_LE(cell.stream->low.value_or(0), cell.seconds);
  EXPECT_GE(cell.stream->high.value_or(cell.seconds), cell.seconds);
  ASSERT_TRUE(s.bracket_low && s.bracket_high && s.skew && s.skew_share);
  EXPECT_LE(*s.bracket_low, cell.seconds);
  EXPECT_GE(*s.bracket_high, cell.seconds);
  EXPECT_GE(*s.skew, 0);
  EXPECT_EQ(s.ranks.size(), ranks);
  EXPECT_EQ(s.late_share.size(), ranks);
  EXPECT_EQ(s.slow_share.size(), ranks);
  EXPECT_EQ(s.late_s.size(), ranks);
  double late = 0;
  for (const double share : s.late_share) late += share;
  EXPECT_LE(late, 1 + 1e-9);
  EXPECT_EQ(cell.verified_calls > 0, !cell.repeats_out_of_place);
}

class SingleSamples : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, SingleSamples, every_backend);

TEST_P(SingleSamples, AreRightAndBracketTheTime) {
  for (const Collective* collective :
       {&collectives::all_reduce, &collectives::broadcast, &collectives::hypercube,
        &collectives::barrier, &collectives::pingpong, &collectives::all_gather_object}) {
    if (!runs_on(*collective, ranks())) continue;
    // A hypercube has 1 or 4 ranks, a pingpong pairs of them.
    const bool once = collective == &collectives::broadcast || collective == &collectives::barrier;
    if (once && !at_one_number(ranks())) continue;
    Options o = samples(ranks());
    o.sweep.sizes = {1000};
    const Outcome outcome = run(*collective, o, *backend_);
    ASSERT_EQ(outcome.exit_code, 0) << collective->name << ": " << outcome.text();
    ASSERT_FALSE(outcome.rows.empty());
    const std::size_t members = collective->domain.paired ? 2 : static_cast<std::size_t>(ranks());
    for (const Row& row : outcome.rows) {
      EXPECT_EQ(row.out_of_place.failed_ranks, 0U);
      expect_samples(row.out_of_place, members);
      expect_samples(row.in_place, members);
      if (!collective->domain.rooted) continue;
      EXPECT_EQ(row.out_of_place.stream->calls_per_stamp, 1U);
    }
  }
}

TEST_P(SingleSamples, OfGroupsNameTheRanksOfTheGroup) {
  Options o = samples(ranks());
  o.sweep.grouping = parse_split_rule("mod 2");
  o.sweep.group_rows = true;
  o.sweep.sizes = {1000};
  const Outcome outcome = run(collectives::all_reduce, o, *backend_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  ASSERT_EQ(outcome.rows.size(), static_cast<std::size_t>(std::min(2, ranks())));
  for (const Row& row : outcome.rows) {
    const auto& members = row.out_of_place.samples.value().ranks;
    expect_samples(row.out_of_place, members.size());
    for (const std::uint64_t rank : members)
      EXPECT_EQ(rank % 2, static_cast<std::uint64_t>(*row.group));
  }
}

// What the last calls of a block left behind is compared, in place too.
TEST(SingleSampleFaults, AWrongElementInEveryCallIsFound) {
  for (const int ranks : {1, 3, 4}) expect_wrong_elements_found(samples(ranks));
}

}  // namespace
}  // namespace ccl_tests::test
