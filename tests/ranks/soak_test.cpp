// --duration: cycles until the time is over, and what they showed.
#include <gmock/gmock.h>

#include "tests/ranks/faulty.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

class SoakRuns : public testing::TestWithParam<int> {
 protected:
  Options soaking(double seconds) const {
    Options o = quick(GetParam());
    o.sweep.duration_s = seconds;
    o.sweep.cycles = 0;  // as the command line sets it
    return o;
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, SoakRuns, testing::Values(1, 3, 4));

TEST_P(SoakRuns, RepeatTheSweepUntilTheTimeIsOver) {
  const Outcome outcome = run(collectives::all_reduce, soaking(0.5), LoopbackBackend());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  ASSERT_TRUE(outcome.summary.soak.has_value());
  const Soak& soak = *outcome.summary.soak;
  EXPECT_GE(soak.seconds, 0.5);
  EXPECT_GE(soak.cycles, 1U);  // the first is always whole; how many fit is the machine's
  EXPECT_GT(soak.first_bytes, 0);
  EXPECT_GE(outcome.rows.size(), 3 * soak.cycles);
  EXPECT_LT(outcome.rows.size(), 3 * (soak.cycles + 1));
  EXPECT_EQ(outcome.rows.back().cycle, static_cast<int>((outcome.rows.size() - 1) / 3));
  EXPECT_TRUE(outcome.summary.complete);
}

// In the first cycle, which is whole however short the time was.
TEST_P(SoakRuns, TellWhatWasWrong) {
  Fault fault;
  fault.after = [](int rank, int number, const Call& call) {
    if (rank == 0 && number == 12) static_cast<std::byte*>(call.recv)[0] ^= std::byte{1};
  };
  const Outcome outcome = run(collectives::all_reduce, soaking(0.5), FaultyBackend(fault));
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.summary.failed_checks, 1U);
  EXPECT_TRUE(outcome.summary.soak.has_value());
}

// What an hour showed is not lost with its last minute.
TEST_P(SoakRuns, TellWhatThereWasUntilAFailure) {
  Fault fault;
  fault.before = [](int, int number, Call&) {
    if (number == 200) throw Error("gone");
    return true;
  };
  const Outcome outcome = run(collectives::all_reduce, soaking(100), FaultyBackend(fault));
  EXPECT_EQ(outcome.exit_code, 4);
  EXPECT_FALSE(outcome.summary.complete);
  ASSERT_TRUE(outcome.summary.soak.has_value());
  EXPECT_GE(outcome.summary.soak->cycles, 1U);
}

TEST_P(SoakRuns, AreAskedForByADuration) {
  EXPECT_FALSE(run(collectives::all_reduce, quick(GetParam()), LoopbackBackend()).summary.soak);
}

}  // namespace
}  // namespace ccl_tests::test
