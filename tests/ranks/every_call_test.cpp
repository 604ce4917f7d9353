// -c all: no call goes by unseen, whatever it is for.
#include <gmock/gmock.h>

#include <atomic>
#include <cstring>

#include "tests/ranks/faulty.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

using testing::HasSubstr;

class EveryCall : public testing::TestWithParam<int> {
 protected:
  Options verified(std::size_t bytes) const {
    Options o = quick(GetParam());
    o.sweep.sizes = {bytes};
    o.check.all = true;
    return o;
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, EveryCall, testing::Values(1, 3, 4));

// Counts the calls of rank 0 in the library, and spoils one of them.
Fault spoils(std::size_t wanted, std::atomic<std::size_t>& calls) {
  Fault fault;
  fault.after = [wanted, &calls](int rank, int /*number*/, const Call& call) {
    if (rank == 0 && calls++ == wanted) static_cast<std::byte*>(call.recv)[9] ^= std::byte{1};
  };
  return fault;
}

TEST_P(EveryCall, IsCounted) {
  for (const Collective* collective : all_collectives()) {
    if (!runs_on(*collective, GetParam()) || collective->needs.synchronizes) continue;
    const Outcome outcome = run(*collective, verified(40'000), LoopbackBackend());
    EXPECT_EQ(outcome.exit_code, 0) << collective->name << outcome.text();
    EXPECT_EQ(outcome.summary.verified_calls, outcome.summary.calls) << collective->name;
    EXPECT_GE(outcome.summary.calls, 5U) << collective->name;
  }
}

// A default run looks at 6 of 24 calls of 64 KiB: what is spoiled in another one is written over.
TEST_P(EveryCall, OfABatchIsVerified) {
  std::atomic<std::size_t> calls = 0;
  Options o = verified(64 << 10);
  o.measure.iterations = 12;
  run(collectives::all_reduce, o, FaultyBackend(spoils(~std::size_t{0}, calls)));
  const std::size_t all = calls;
  EXPECT_EQ(all, 2 * (2 + 12U));
  for (std::size_t k = 0; k < all; ++k) {
    calls = 0;
    const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(spoils(k, calls)));
    EXPECT_EQ(outcome.exit_code, 7) << "call " << k << " of " << all;
    EXPECT_EQ(outcome.summary.failed_checks, 1U) << k;
    EXPECT_EQ(outcome.summary.calls, outcome.summary.verified_calls);
  }
}

// The job's first calls, those that are not timed, those whose times are thrown away.
TEST_P(EveryCall, OfAStreamIsVerified) {
  Options o = verified(64 << 10);
  o.measure.batch = o.measure.warmup_given = false;
  o.measure.warmup = 1;
  o.measure.time_budget_s = 0.01;
  o.sweep.sizes = {8, 64 << 10};
  std::atomic<std::size_t> calls = 0;
  for (const std::size_t k : {0U, 1U, 2U, 3U, 4U, 9U, 14U, 17U, 30U}) {
    calls = 0;
    const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(spoils(k, calls)));
    EXPECT_GT(calls, k);
    EXPECT_EQ(outcome.exit_code, 7) << "call " << k;
    EXPECT_EQ(outcome.summary.calls, outcome.summary.verified_calls);
    // The first two calls are of no row: one of each end of the sweep.
    EXPECT_EQ(outcome.summary.wrong_rows, k < 2 ? 0U : 1U) << k;
    if (k >= 2) continue;
    EXPECT_THAT(outcome.summary.first_wrong, HasSubstr("in the job's first calls"));
    EXPECT_THAT(outcome.summary.first_wrong, HasSubstr(k == 0 ? " 8 B float" : " 65536 B float"));
    EXPECT_THAT(outcome.summary.rerun, HasSubstr(k == 0 ? "-b 8 " : "-b 64K "));
    EXPECT_THAT(outcome.text(), HasSubstr("in the job's first calls"));
  }
}

// Rows beyond 1 MiB have one slot: the result of the call before must not be right there.
TEST_P(EveryCall, OfOneSlotIsNotTheOneBefore) {
  constexpr std::size_t bytes = 2 << 20;
  std::vector<std::byte> last(bytes);
  Fault fault;
  fault.after = [&last](int rank, int number, const Call& call) {
    if (rank != 0) return;
    auto* const result = static_cast<std::byte*>(call.recv);
    if (number == 3) std::memcpy(result, last.data(), bytes);
    std::memcpy(last.data(), result, bytes);
  };
  const Outcome outcome = run(collectives::all_reduce, verified(bytes), FaultyBackend(fault));
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.text(), HasSubstr("the result of an earlier call"));
  EXPECT_EQ(outcome.summary.calls, outcome.summary.verified_calls);
}

TEST_P(EveryCall, OfSamplesIsVerified) {
  Options o = verified(64 << 10);
  o.measure.batch = o.measure.warmup_given = false;
  o.measure.samples = true;
  o.measure.time_budget_s = 0.01;
  std::atomic<std::size_t> calls = 0;
  for (const std::size_t k : {0U, 2U, 7U, 11U}) {
    calls = 0;
    const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(spoils(k, calls)));
    EXPECT_EQ(outcome.exit_code, 7) << "call " << k;
    EXPECT_EQ(outcome.summary.calls, outcome.summary.verified_calls);
  }
}

}  // namespace
}  // namespace ccl_tests::test
