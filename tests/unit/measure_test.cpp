// The measurement of a cell by a clock that only moves when it is told to.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "src/measure/clocks.hpp"
#include "src/measure/measurement.hpp"
#include "src/measure/statistics.hpp"
#include "src/measure/stopping.hpp"

namespace ccl_tests {
namespace {

// Issuing takes 1 s, waiting 10 s per call under way, a barrier 100 s.
struct FakeRank {
  struct Time : Clock {
    double now() const override { return seconds; }
    double seconds = 5;
  } time;
  std::string log;
  Timeline* device = nullptr;

  struct Calls : Workload {
    explicit Calls(FakeRank& r) : rank(r) {}
    Samples make(const SingleCalls& plan) override { return Samples(plan.calls); }
    void prepare(const BlockPlan& /*plan*/) override {}
    void issue(std::size_t first, std::size_t calls) override {
      for (std::size_t k = first; k < first + calls; ++k) {
        rank.log += std::to_string(k);
        rank.time.seconds += 1;
        ++under_way;
      }
    }
    void begin() override { rank.log += '|'; }
    void wait() override {
      rank.log += 'w';
      rank.time.seconds += 10 * static_cast<double>(under_way);
      under_way = 0;
    }
    void verify() override {}
    Timeline* marks() override { return rank.device; }
    FakeRank& rank;
    std::size_t under_way = 0;
  };
  struct Meeting : Barrier {
    explicit Meeting(FakeRank& r) : rank(r) {}
    void wait() override {
      rank.log += 'b';
      rank.time.seconds += 100;
    }
    FakeRank& rank;
  };

  Samples take(const BlockPlan& plan) {
    Calls calls(*this);
    Meeting barrier(*this);
    return take_block(plan, calls, barrier, time);
  }
};

// Seconds per call.
double wall(const Samples& samples, std::size_t calls) {
  double sum = 0;
  for (const Sample& s : samples) sum += s.seconds();
  return sum / static_cast<double>(calls);
}

TEST(Block, IssuesEverythingThenWaitsOnce) {
  FakeRank rank;
  const Samples samples = rank.take({.samples = 1, .calls = 4});
  EXPECT_EQ(rank.log, "b|0123w");
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_DOUBLE_EQ((samples[0].issued - samples[0].start) / 4, 1);
  EXPECT_DOUBLE_EQ(wall(samples, 4), 11);
}

TEST(Block, UntimedCallsAreCompleteBeforeTheClockStarts) {
  FakeRank rank;
  const Samples samples = rank.take({.untimed = 2, .samples = 1, .calls = 2});
  EXPECT_EQ(rank.log, "b01wb|23w");
  EXPECT_DOUBLE_EQ(wall(samples, 2), 11);
}

TEST(Block, BarrierInsideIsInTheTime) {
  FakeRank rank;
  const Samples samples =
      rank.take({.samples = 1, .calls = 2, .blocking = Blocking::barrier_inside});
  EXPECT_EQ(rank.log, "b|0wb1wbw");
  EXPECT_DOUBLE_EQ(wall(samples, 2), 111);
}

TEST(Block, WaitFollowsEachCall) {
  FakeRank rank;
  const Samples samples = rank.take({.samples = 1, .calls = 2, .blocking = Blocking::wait});
  EXPECT_EQ(rank.log, "b|0w1ww");
  EXPECT_DOUBLE_EQ(wall(samples, 2), 11);
}

TEST(Block, BarrierOutsideIsNotInTheTime) {
  FakeRank rank;
  const Samples samples =
      rank.take({.samples = 2, .calls = 2, .blocking = Blocking::barrier_outside});
  EXPECT_EQ(rank.log, "b|01wb23wb");
  EXPECT_EQ(samples.size(), 2U);
  EXPECT_DOUBLE_EQ(wall(samples, 4), 11);
}

TEST(Block, StampsOfAStreamTouch) {
  FakeRank rank;
  const Samples samples =
      rank.take({.untimed = 1, .samples = 3, .calls = 2, .blocking = Blocking::stream});
  EXPECT_EQ(rank.log, "b0wb|12w34w56w");
  ASSERT_EQ(samples.size(), 3U);
  for (const Sample& sample : samples) EXPECT_DOUBLE_EQ(sample.seconds(), 22);
  EXPECT_EQ(samples[0].end, samples[1].start);
  EXPECT_EQ(samples[1].end, samples[2].start);
}

// Marks that take no time of the host's; a call takes 3 s of the device's.
struct Marks : Timeline {
  explicit Marks(FakeRank& r) : rank(r) {}
  void mark() override {
    rank.log += 'm';
    ++marks;
  }
  std::vector<double> intervals() const override { return std::vector<double>(marks - 1, 6); }
  FakeRank& rank;
  std::size_t marks = 0;
};

TEST(Block, DeviceMarksTheStampsOfAStreamAndNobodyWaitsBetween) {
  FakeRank rank;
  Marks marks(rank);
  rank.device = &marks;
  const Samples samples =
      rank.take({.untimed = 1, .samples = 3, .calls = 2, .blocking = Blocking::stream});
  EXPECT_EQ(rank.log, "b0wb|m12m34m56mw");
  ASSERT_EQ(samples.size(), 3U);
  for (const Sample& sample : samples) EXPECT_DOUBLE_EQ(sample.seconds(), 6);
  rank.log.clear();
  rank.take({.samples = 1, .calls = 2, .blocking = Blocking::wait});
  EXPECT_EQ(rank.log, "b|0w1ww");
}

TEST(Block, NothingHappensWithoutCalls) {
  FakeRank rank;
  EXPECT_TRUE(rank.take({.blocking = Blocking::barrier_inside}).empty());
  EXPECT_EQ(rank.log, "");
}

// Tells the criterion of two ranks whose slowest single call took `call_s`.
BatchCriterion after_single_calls(const BatchGoal& goal, double call_s) {
  BatchCriterion criterion(goal);
  const std::vector<Samples> ranks = {{{0, 0, 9}, {0, 0, call_s / 2}}, {{0, 0, call_s}}};
  criterion.add(criterion.next(), ranks);
  return criterion;
}

TEST(Batch, BeginsWithSingleCallsOfWhichTheLastAreChecked) {
  const Step step = BatchCriterion({.warmup = 3, .checked = 2}).next();
  EXPECT_EQ(step.kind, Step::Kind::single_calls);
  EXPECT_EQ(step.single.calls, 5U);
  EXPECT_EQ(step.single.checked, 2U);
  EXPECT_EQ(BatchCriterion({.warmup = 0, .checked = 0}).next().single.calls, 1U);
}

TEST(Batch, TakesOneBlockOfAllIterations) {
  BatchCriterion criterion =
      after_single_calls({.iterations = 20, .aggregate = 3, .warmup = 1}, 0.01);
  const Step step = criterion.next();
  EXPECT_EQ(step.kind, Step::Kind::block);
  EXPECT_EQ(step.block.untimed, 0U);
  EXPECT_EQ(step.block.samples, 1U);
  EXPECT_EQ(step.block.calls, 60U);
  EXPECT_EQ(criterion.taken().iterations, 20U);
  criterion.add(step, {});
  EXPECT_EQ(criterion.next().kind, Step::Kind::done);
}

TEST(Batch, MakesWholeIterationsUntimed) {
  const auto untimed = [](std::size_t aggregate, double call_s) {
    return after_single_calls({.iterations = 20, .aggregate = aggregate}, call_s)
        .next()
        .block.untimed;
  };
  EXPECT_EQ(untimed(1, 1.0), 1U);
  EXPECT_EQ(untimed(16, 1.0), 16U);
  EXPECT_EQ(untimed(7, 1e-4) % 7, 0U);
  EXPECT_GE(untimed(7, 1e-4), untimed(1, 1e-4));
}

TEST(Batch, WithABarrierOutsideTakesASampleOfEachIteration) {
  const BlockPlan plan =
      after_single_calls({.iterations = 7, .aggregate = 3, .blocking = Blocking::barrier_outside},
                         0.01)
          .next()
          .block;
  EXPECT_EQ(plan.samples, 7U);
  EXPECT_EQ(plan.calls, 3U);
}

TEST(Batch, WithoutIterationsIsDoneAfterTheSingleCalls) {
  EXPECT_EQ(after_single_calls({.iterations = 0}, 0.01).next().kind, Step::Kind::done);
}

// The first row over MPI showed 5 to 8 us instead of 0.2 us when 1 call was untimed.
TEST(Batch, WithoutANumberWarmsUpForAtLeast20CallsAnd1Ms) {
  const auto untimed = [](double call_s) {
    return after_single_calls({}, call_s).next().block.untimed;
  };
  EXPECT_EQ(untimed(1e-6), 1000U);
  EXPECT_EQ(untimed(1e-4), 20U);
  EXPECT_EQ(untimed(4e-3), 20U);
  EXPECT_EQ(untimed(0.02), 5U);  // at most 0.1 s
  EXPECT_EQ(untimed(3), 1U);
  EXPECT_EQ(untimed(0), 0U);  // a simulator's clock
}

TEST(Batch, IterationsAreCappedByTheRowsTime) {
  EXPECT_EQ(after_single_calls({.iterations = 20, .limit_s = 4}, 0.5).taken().iterations, 8U);
  EXPECT_EQ(
      after_single_calls({.iterations = 20, .limit_s = 4, .repeats = 4}, 0.5).taken().iterations,
      2U);
  EXPECT_EQ(capped_iterations(20, 0.1, 4), 20U);
  EXPECT_EQ(capped_iterations(20, 100, 4), 1U);
  EXPECT_EQ(capped_iterations(20, 100, 0), 20U);
  EXPECT_EQ(capped_iterations(0, 100, 4), 0U);
  EXPECT_EQ(capped_iterations(1, 100, 4), 1U);
  EXPECT_EQ(capped_iterations(2'147'483'647, 1e-12, 4), 2'147'483'647U);
  EXPECT_EQ(capped_iterations(20, 0, 4), 20U);
}

// The single call was quick by chance: the batch of 20000 would take minutes.
TEST(Batch, ATrialSaysWhatIterationsTake) {
  for (const bool exact : {false, true}) {
    BatchGoal goal{.iterations = 20000, .limit_s = 2, .trial = 64};
    if (exact) goal.warmup = 3;
    BatchCriterion criterion = after_single_calls(goal, 1e-6);
    const Step trial = criterion.next();
    EXPECT_EQ(trial.block.timed(), 64U);
    EXPECT_EQ(trial.block.untimed, exact ? 0U : 20U);
    criterion.add(trial, std::vector<Samples>{{{0, 0, 0.25}}, {{0, 0, 0.5}}});
    EXPECT_EQ(criterion.taken().samples.size(), exact ? 2U : 0U);  // which count
    const Step rest = criterion.next();
    EXPECT_EQ(rest.block.timed(), exact ? 192U : 256U);
    EXPECT_EQ(criterion.taken().iterations, 256U);
    criterion.add(rest, std::vector<Samples>{{{1, 1, 2.5}}, {{1, 1, 2.5}}});
    EXPECT_EQ(criterion.next().kind, Step::Kind::done);
    EXPECT_EQ(criterion.taken().iterations, 256U);
  }
  const BatchCriterion few =
      after_single_calls({.iterations = 256, .limit_s = 2, .trial = 64}, 1e-6);
  EXPECT_EQ(few.next().block.timed(), 256U);
  const BatchCriterion slow =
      after_single_calls({.iterations = 20000, .limit_s = 2, .trial = 64}, 0.01);
  EXPECT_EQ(slow.next().block.timed(), 200U);
}

TEST(Batch, OfVerifiedCallsEndsWithTheRowsTime) {
  BatchCriterion criterion =
      after_single_calls({.iterations = 1000, .warmup = 0, .limit_s = 2, .most_calls = 8}, 1e-6);
  for (int k = 0; k < 2; ++k) {
    EXPECT_EQ(criterion.next().block.samples, 8U);
    criterion.add(criterion.next(), std::vector<Samples>{{{0, 0, 1}}});
  }
  EXPECT_EQ(criterion.next().kind, Step::Kind::done);
  EXPECT_EQ(criterion.taken().iterations, 16U);
}

// Rank 0 of two, whose peer took as long; and the peer, who is told what to do.
class FakeCoordinator : public Coordinator {
 public:
  Step agree(const Step& decision) override {
    if (!told.empty()) {
      const Step step = told.front();
      told.erase(told.begin());
      return step;
    }
    return decision;
  }
  std::vector<Samples> gather(const Samples& mine) override {
    gathered += mine.size();
    return decides ? std::vector<Samples>{mine, mine} : std::vector<Samples>{};
  }
  std::vector<Step> told;
  bool decides = true;
  std::size_t gathered = 0;
};

struct NoBarrier : Barrier {
  void wait() override {}
};

struct CountingWorkload : Workload {
  Samples make(const SingleCalls& plan) override {
    singles += plan.calls;
    return Samples(plan.calls, Sample{0, 0, 0.001});
  }
  void prepare(const BlockPlan& plan) override { prepared += plan.timed(); }
  void issue(std::size_t /*first*/, std::size_t calls) override { issued += calls; }
  void wait() override {}
  void verify() override { ++verified; }
  std::size_t singles = 0, prepared = 0, issued = 0, verified = 0;
};

TEST(Measure, TakesTheCriterionsStepsAndGivesItTheBlocksOfAllRanks) {
  CountingWorkload calls;
  NoBarrier barrier;
  FakeCoordinator coordinator;
  BatchCriterion criterion({.iterations = 6, .warmup = 2, .checked = 1});
  measure(&criterion, calls, barrier, Clock(), coordinator);
  const std::vector<Samples>& blocks = criterion.taken().samples;
  EXPECT_EQ(calls.singles, 3U);
  EXPECT_EQ(calls.prepared, 6U);
  EXPECT_EQ(calls.issued, 6U);
  EXPECT_EQ(calls.verified, 1U);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[1].size(), 1U);
}

TEST(Measure, OtherRanksDoWhatTheyAreTold) {
  CountingWorkload calls;
  NoBarrier barrier;
  FakeCoordinator coordinator;
  coordinator.decides = false;
  Step block;
  block.kind = Step::Kind::block;
  block.block = {.untimed = 5, .samples = 2, .calls = 3};
  coordinator.told = {block, Step{}};
  measure(nullptr, calls, barrier, Clock(), coordinator);
  EXPECT_EQ(calls.issued, 11U);
  EXPECT_EQ(coordinator.gathered, 2U);
}

// Counts in steps of 16 ns, as some CPUs do; a reading takes 4 ns.
class CoarseClock : public Clock {
 public:
  double now() const override { return std::floor(++readings_ * 4 / 16) * 16e-9; }

 private:
  mutable double readings_ = 0;
};

class StandingClock : public Clock {
 public:
  double now() const override { return 5; }
};

TEST(ClockProperties, AreWhatAReadingTakesAndTheSmallestStep) {
  const ClockProperties coarse = clock_properties(CoarseClock());
  EXPECT_NEAR(coarse.cost_s, 4e-9, 0.5e-9);
  EXPECT_NEAR(coarse.resolution_s, 16e-9, 1e-12);
  const ClockProperties standing = clock_properties(StandingClock());
  EXPECT_EQ(standing.cost_s, 0);
  EXPECT_EQ(standing.resolution_s, 0);
}

TEST(Average, OfRanks) {
  const double times[] = {3, 1, 8};
  EXPECT_EQ(average(Average::rank0, times), 3);
  EXPECT_EQ(average(Average::mean, times), 4);
  EXPECT_EQ(average(Average::min, times), 1);
  EXPECT_EQ(average(Average::max, times), 8);
  EXPECT_EQ(average(Average::mean, {times, 1}), 3);
}

}  // namespace
}  // namespace ccl_tests
