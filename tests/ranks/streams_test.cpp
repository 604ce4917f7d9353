// Rows that are streams of stamps: right, with an interval, and checked as batches are.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "src/devices/host_limits.hpp"
#include "tests/ranks/intervals.hpp"
#include "tests/ranks/on_backend.hpp"

namespace ccl_tests::test {
namespace {

class Streams : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, Streams, every_backend);

TEST_P(Streams, AreRightAndHaveAnInterval) {
  for (const Collective* collective :
       {&collectives::all_reduce, &collectives::broadcast, &collectives::alltoall}) {
    if (collective != &collectives::all_reduce && !at_one_number(ranks())) continue;
    const Outcome outcome = run(*collective, with_intervals(ranks()), *backend_);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    ASSERT_EQ(outcome.rows.size(), 3U);
    for (const Row& row : outcome.rows) {
      const Measurement& cell = row.out_of_place;
      EXPECT_EQ(cell.wrong, 0U);
      ASSERT_TRUE(cell.stream);
      EXPECT_GE(cell.stream->stamps, 6U);
      // Few stamps of calls that wait for CPUs tell no 10th percentile, and have one moment.
      const bool is_short = cell.seconds <= 3e-3;
      ASSERT_TRUE(!is_short || (cell.stream->low && cell.stream->high)) << cell.seconds;
      EXPECT_LE(cell.stream->low.value_or(0), cell.seconds);
      EXPECT_GE(cell.stream->high.value_or(cell.seconds), cell.seconds);
      EXPECT_LE(cell.stream->fast, cell.stream->slow);
      EXPECT_GE(cell.calls, cell.stream->stamps);
      EXPECT_GT(cell.verified_calls, 1U);
    }
    EXPECT_GT(outcome.summary.times, 0U);
    const bool are_short =
        std::all_of(outcome.rows.begin(), outcome.rows.end(), [](const Row& row) {
          return row.out_of_place.seconds <= 3e-3 && row.in_place.seconds <= 3e-3;
        });
    if (!are_short) continue;  // too long for several moments
    ASSERT_TRUE(outcome.summary.repeats);
    // Calls in place of one rank that take less than 1 us do nothing, and no interval counts. Over
    // Gloo, whose calls wait for CPUs, a row may have too few stamps to be repeated.
    EXPECT_GT(outcome.summary.repeats->times, 0U);
    if (backend_->name() == "loopback") {
      EXPECT_GE(outcome.summary.repeats->times, outcome.summary.times);
      if (ranks() > 1) {
        EXPECT_EQ(outcome.summary.repeats->times, outcome.summary.times);
      }
    }
    EXPECT_GE(outcome.rows[0].moments, 3);
    EXPECT_GE(outcome.summary.repeats->largest, outcome.summary.repeats->difference);
    EXPECT_GT(outcome.summary.repeats->after_s, 0);
  }
}

TEST(Repeats, ShowThatTheMachineHasBecomeSlower) {
  for (const int ranks : {1, 3, 4}) {
    struct Seen {
      bool in_place = false;
      int moments = 0;  // that are over: each ends with calls in place
    };
    std::vector<Seen> seen(static_cast<std::size_t>(ranks));
    Fault fault;
    fault.after = [&](int rank, int /*number*/, const Call& call) {
      if (call.count != 250) return;  // a barrier's message
      Seen& mine = seen[static_cast<std::size_t>(rank)];
      const bool in_place = call.send == call.recv;
      if (mine.in_place && !in_place) ++mine.moments;
      mine.in_place = in_place;
      if (mine.moments >= 2) std::this_thread::sleep_for(std::chrono::milliseconds(4));
    };
    Options o = with_intervals(ranks);
    o.sweep.sizes = {1000};
    const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(fault));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    ASSERT_TRUE(outcome.summary.repeats);
    EXPECT_GE(outcome.rows.at(0).moments, 3);
    EXPECT_GT(outcome.rows.at(0).out_of_place.pass_spread, 0.5);
    EXPECT_EQ(outcome.summary.verdict, Verdict::unreliable);
  }
}

TEST(Repeats, AreNotMadeOfBatchesOrPasses) {
  Options batches = quick(3);
  EXPECT_FALSE(run(collectives::all_reduce, batches, LoopbackBackend()).summary.repeats);
  Options passes = with_intervals(3);
  passes.sweep.passes = 2;
  EXPECT_FALSE(run(collectives::all_reduce, passes, LoopbackBackend()).summary.repeats);
}

TEST_P(Streams, KeepEveryStampIfAsked) {
  Options o = with_intervals(ranks());
  o.sweep.sizes = {1000};
  EXPECT_TRUE(
      run(collectives::all_reduce, o, *backend_).rows.at(0).out_of_place.stream->seconds.empty());
  o.output.raw = true;
  const Outcome outcome = run(collectives::all_reduce, o, *backend_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  for (const Measurement* cell : {&outcome.rows.at(0).out_of_place, &outcome.rows.at(0).in_place}) {
    ASSERT_EQ(cell->stream->seconds.size(), cell->stream->stamps);
    const auto [least, most] =
        std::minmax_element(cell->stream->seconds.begin(), cell->stream->seconds.end());
    EXPECT_LE(*least, cell->seconds);
    EXPECT_GE(*most, cell->seconds);
    EXPECT_EQ(cell->stream->rank_seconds.size(),
              cell->stream->stamps * static_cast<std::size_t>(ranks()));
  }
}

TEST_P(Streams, OfGroupsGoOnTogether) {
  Options o = with_intervals(ranks());
  o.sweep.grouping = parse_split_rule("mod 2");
  o.sweep.group_rows = true;
  o.sweep.sizes = {1000};
  const Outcome outcome = run(collectives::all_reduce, o, *backend_);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
  ASSERT_EQ(outcome.rows.size(), static_cast<std::size_t>(std::min(2, ranks())));
  for (const Row& row : outcome.rows)
    EXPECT_EQ(row.out_of_place.stream.value().stamps,
              outcome.rows[0].out_of_place.stream.value().stamps);
}

// Slots of any number hold what they should, also where each is used once. No library sees the
// difference: Gloo has one of them.
TEST_P(Streams, OfEveryUseOfTheCacheAreRight) {
  for (const CacheUse use : {CacheUse::cold, CacheUse::warm, CacheUse::rotate}) {
    if (use != CacheUse::cold && backend_->name() != "loopback" && !nightly()) continue;
    Options o = with_intervals(ranks());
    o.sweep.sizes = {1000};
    o.measure.cache = use;
    const Outcome outcome = run(collectives::all_reduce, o, *backend_);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    EXPECT_EQ(outcome.info.cache, name(use));
    EXPECT_GT(outcome.info.cache_footprint, std::size_t{1} << 16);
    for (const Row& row : outcome.rows) {
      EXPECT_EQ(row.in_place.wrong, 0U);
      EXPECT_GE(row.out_of_place.stream.value().stamps, 6U);
      EXPECT_GT(row.out_of_place.verified_calls, 1U);
    }
  }
}

// A library that takes fresh memory for every call.
TEST(Evidence, OfPageFaultsInTimedCallsIsInTheRow) {
  for (const int ranks : {1, 3, 4}) {
    for (const bool fresh : {false, true}) {
      Fault fault;
      fault.after = [&](int rank, int /*number*/, const Call& /*call*/) {
        if (!fresh || rank != ranks - 1) return;
        const Buffer pages = host_buffer(4 * 4096);
        for (std::size_t at = 0; at < pages.size(); at += 4096) pages.data()[at] = std::byte{1};
      };
      Options o = with_intervals(ranks);
      o.sweep.sizes = {1000};
      const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(fault));
      ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
      const Measurement& cell = outcome.rows.at(0).out_of_place;
      ASSERT_TRUE(cell.evidence);
      if (!fresh) continue;
      EXPECT_GE(cell.evidence->minor_faults, cell.stream->stamps);
      EXPECT_THAT(cell.stream->flags, testing::Contains("page faults"));
    }
  }
}

TEST(Evidence, OfTheMachineIsInTheHeaderAndTheSummary) {
  for (const int ranks : {1, 3, 4}) {
    Options o = with_intervals(ranks);
    o.sweep.sizes = {8};
    const Outcome outcome = run(collectives::all_reduce, o, LoopbackBackend());
    EXPECT_GT(outcome.info.clock_cost, 0);
    EXPECT_GT(outcome.info.clock_resolution, 0);
    const std::size_t cpus = cpus_in(allowed_cpus()).size();
    const bool probed = cpus > 1 && ranks > 1 && !outcome.info.oversubscribed;
    EXPECT_TRUE(static_cast<std::size_t>(ranks) <= cpus || !probed);
    EXPECT_EQ(outcome.info.core_to_core.has_value(), probed);
    EXPECT_EQ(outcome.summary.core_to_core.has_value(), probed);
  }
}

// Returns how many calls rank 0 made before its first row, of sizes that are told apart by `count`.
std::vector<std::size_t> first_calls(Options o) {
  std::vector<std::size_t> counts;
  Fault fault;
  fault.after = [&](int rank, int number, const Call& call) {
    if (rank == 0 && number < 3) counts.push_back(call.count);
  };
  const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(fault));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  return counts;
}

TEST(WarmUp, IsACallOfTheSmallestAndOneOfTheLargestSize) {
  for (const int ranks : {1, 3, 4}) {
    Options o = with_intervals(ranks);
    o.sweep.sizes = {40, 8, 4000, 400};
    EXPECT_THAT(first_calls(o), testing::ElementsAre(2, 1000, 2));
    o.sweep.sizes = {40};
    EXPECT_THAT(first_calls(o), testing::ElementsAre(10, 10, 10));
    o.sweep.sizes = {40, 8, 4000, 400};
    o.measure.warmup_given = o.measure.batch = true;  // -w: exactly so many calls
    EXPECT_THAT(first_calls(o), testing::ElementsAre(10, 10, 10));
  }
}

TEST(WarmUp, ThatFailsNamesItsCall) {
  for (const int ranks : {1, 3, 4}) {
    Fault fault;
    fault.before = [](int rank, int number, Call& /*call*/) -> bool {
      if (rank == 0 && number == 1) throw Timeout("waited too long");
      return true;
    };
    const Outcome outcome =
        run(collectives::all_reduce, with_intervals(ranks), FaultyBackend(fault));
    EXPECT_EQ(outcome.exit_code, 5);
    EXPECT_TRUE(outcome.rows.empty());
    EXPECT_THAT(outcome.text(),
                testing::HasSubstr("all_reduce float sum, 40000 B, first call of the job"));
  }
}

// What the last calls of a block left behind is compared, in place too.
TEST(StreamFaults, AWrongElementInEveryCallIsFound) {
  for (const int ranks : {1, 3, 4}) expect_wrong_elements_found(with_intervals(ranks));
}

}  // namespace
}  // namespace ccl_tests::test
