// What an operation and a load do to each other, by a clock that only moves when it is told to and
// by made-up numbers; and the loads themselves, of which only that they work is asked.
#include "src/measure/beside.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "src/core/error.hpp"
#include "src/devices/load.hpp"

namespace ccl_tests {
namespace {

// A rank and its load on one machine. A call takes 1 ms alone and `slower` ms beside the load, which
// does 1000 units a second alone and `share` of them beside calls. All becomes slower by `drift` of
// its first speed each second.
struct FakeMachine {
  double slower = 1, share = 1, drift = 0;
  std::string log = {};

  struct Time : Clock {
    double now() const override { return seconds; }
    void sleep_for(double s) override {
      machine.log += 's';
      machine.advance(s, 1);
    }
    explicit Time(FakeMachine& m) : machine(m) {}
    FakeMachine& machine;
    double seconds = 5;
  } time{*this};

  struct Calls : Workload {
    explicit Calls(FakeMachine& m) : machine(m) {}
    Samples make(const SingleCalls& plan) override { return Samples(plan.calls); }
    void prepare(const BlockPlan& /*plan*/) override {
      machine.log += machine.works ? '!' : 'p';  // never beside the load
      machine.advance(3e-3, 1);
    }
    void issue(std::size_t /*first*/, std::size_t calls) override {
      const double each = machine.works ? machine.slower : 1;
      for (std::size_t k = 0; k < calls; ++k)
        machine.advance(1e-3 * each * machine.pace(0), machine.share);
      machine.log += machine.works ? 'B' : 'A';
    }
    void wait() override {}
    void verify() override { machine.log += machine.works ? '!' : 'v'; }
    FakeMachine& machine;
  };

  struct FakeLoad : Load {
    explicit FakeLoad(FakeMachine& m) : machine(m) {}
    void resume() override {
      machine.works = true;
      machine.stamps.assign(1, {machine.time.seconds, 0});
    }
    void pause() override { machine.works = false; }
    double done_at(double at) const override {
      const auto& stamps = machine.stamps;
      std::size_t k = 1;
      while (k + 1 < stamps.size() && stamps[k].first < at) ++k;
      const auto [t0, w0] = stamps[k - 1];
      const auto [t1, w1] = stamps.at(k);
      return w0 + (w1 - w0) * (at - t0) / (t1 - t0);
    }
    FakeMachine& machine;
  };

  struct Meeting : Barrier {
    explicit Meeting(FakeMachine& m) : machine(m) {}
    void wait() override { machine.advance(1e-3, 1); }
    FakeMachine& machine;
  };

  // How many times as long all takes, so many seconds from now.
  double pace(double later) const { return 1 + drift * (time.seconds + later - 5); }
  void advance(double s, double load_share) {
    const double work = works ? 1000 * s * load_share / pace(s / 2) : 0;
    time.seconds += s;
    if (works) stamps.emplace_back(time.seconds, stamps.back().second + work);
  }
  std::vector<BesideRound> take(const BesidePlan& plan) {
    Calls calls(*this);
    FakeLoad load(*this);
    Meeting barrier(*this);
    std::vector<BesideRound> rounds;
    for (std::size_t k = 0; k < plan.rounds; ++k)
      rounds.push_back(take_round(plan, calls, barrier, time, load));
    return rounds;
  }

  bool works = false;
  std::vector<std::pair<double, double>> stamps = {};  // moments, and the work done until then
};

constexpr int alone_rank[] = {0};

TEST(Beside, TakesItsBlocksInAbbaOrder) {
  FakeMachine machine;
  machine.take({.alone_calls = 20, .both_calls = 10, .load_s = 20e-3, .rounds = 1});
  // Load, operation, both, both, operation, load: each block of calls with untimed ones in front.
  EXPECT_EQ(machine.log, "spAAvpBBvpBBvpAAvs");
}

TEST(Beside, FindsWhatEachSideLoses) {
  FakeMachine machine{.slower = 1.25, .share = 0.75};
  const auto rounds =
      machine.take({.alone_calls = 20, .both_calls = 16, .load_s = 20e-3, .rounds = 6});
  const BesideRatios found = beside_ratios({rounds}, alone_rank, Average::mean);
  EXPECT_EQ(found.rounds, 6U);
  EXPECT_NEAR(found.time.value, 1.25, 1e-9);
  EXPECT_NEAR(*found.time.low, 1.25, 1e-9);
  EXPECT_NEAR(*found.time.high, 1.25, 1e-9);
  EXPECT_NEAR(found.work.value, 0.75, 1e-9);
  EXPECT_NEAR(found.work_per_s, 1000, 1e-6);
}

TEST(Beside, IsNotFooledByAMachineThatBecomesSlower) {
  FakeMachine machine{.drift = 0.1};
  const auto rounds =
      machine.take({.alone_calls = 20, .both_calls = 20, .load_s = 20e-3, .rounds = 6});
  EXPECT_GT(rounds[5].alone_s, 1.05 * rounds[0].alone_s);
  const BesideRatios found = beside_ratios({rounds}, alone_rank, Average::mean);
  EXPECT_NEAR(found.time.value, 1, 1e-3);
  EXPECT_NEAR(found.work.value, 1, 1e-3);
}

// Times become one by -a, work is added; other groups' ranks do not count.
TEST(Beside, IsOfTheRanksOfAGroup) {
  const std::vector<std::vector<BesideRound>> ranks = {std::vector<BesideRound>(6, {1, 2, 10, 5}),
                                                       std::vector<BesideRound>(6, {9, 9, 9, 9}),
                                                       std::vector<BesideRound>(6, {3, 4, 30, 25})};
  const int group[] = {0, 2};
  const BesideRatios mean = beside_ratios(ranks, group, Average::mean);
  EXPECT_DOUBLE_EQ(mean.time.value, 1.5);
  EXPECT_DOUBLE_EQ(mean.work.value, 0.75);
  EXPECT_DOUBLE_EQ(mean.work_per_s, 40);
  EXPECT_DOUBLE_EQ(beside_ratios(ranks, group, Average::max).time.value, 4.0 / 3);
}

TEST(Beside, HasNoIntervalOfFewRoundsAndNoRatioOfNone) {
  const BesideRatios few =
      beside_ratios({std::vector<BesideRound>(5, {1, 2, 10, 5})}, alone_rank, Average::mean);
  EXPECT_DOUBLE_EQ(few.time.value, 2);
  EXPECT_FALSE(few.time.low);
  const BesideRatios none =
      beside_ratios({std::vector<BesideRound>(6, {0, 2, 10, 5})}, alone_rank, Average::mean);
  EXPECT_EQ(none.rounds, 0U);
}

// Rounds with noise that is skewed, as a scheduler's: intervals cover the truth as often as they say.
TEST(Beside, IntervalsCoverTheTruth) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> late(10);
  std::normal_distribution<double> noise(0, 0.05);
  const auto noisy = [&] { return std::exp(noise(random)) + late(random); };
  constexpr int runs = 1000;
  int covered = 0, told = 0;
  for (int run = 0; run < runs; ++run) {
    std::vector<BesideRound> rounds;
    for (int k = 0; k < 20; ++k) rounds.push_back({noisy(), 1.25 * noisy(), 1, 1});
    const BesideRatios found = beside_ratios({rounds}, alone_rank, Average::mean);
    if (!found.time.low) continue;
    if (*found.time.low <= 1.25 && 1.25 <= *found.time.high) ++covered;
    if (*found.time.low > 1) ++told;
  }
  EXPECT_GE(covered, runs * 93 / 100);
  EXPECT_GE(told, runs * 95 / 100);
}

TEST(BesidePlan, HasBlocksOfOneLengthAndAsManyRoundsAsThereIsTimeFor) {
  const BesidePlan usual = plan_beside(10e-6, 40e-6, 0, 4);
  EXPECT_EQ(usual.alone_calls, 2000U);
  EXPECT_EQ(usual.both_calls, 500U);
  EXPECT_EQ(usual.rounds, 20U);
  const BesidePlan few = plan_beside(10e-6, 10e-6, 64, 4);
  EXPECT_EQ(few.alone_calls, 64U);
  EXPECT_EQ(few.both_calls, 64U);
  const BesidePlan slow = plan_beside(0.5, 2, 0, 4);
  EXPECT_EQ(slow.alone_calls, 1U);
  EXPECT_EQ(slow.both_calls, 1U);
  EXPECT_EQ(slow.rounds, 6U);
  EXPECT_EQ(plan_beside(10e-6, 40e-6, 0, 40).rounds, 200U);
  EXPECT_EQ(plan_beside(0.5, 2, 0, 0).rounds, 20U);
  EXPECT_GE(plan_beside(0, 0, 0, 4).alone_calls, 1U);  // a time that is not known
}

TEST(BesidePieces, CountTheShareOfThePieceThatIsUnderWay) {
  const std::vector<double> stamps = {10, 11, 13};
  EXPECT_DOUBLE_EQ(pieces_at(stamps, 9), 0);
  EXPECT_DOUBLE_EQ(pieces_at(stamps, 10), 0);
  EXPECT_DOUBLE_EQ(pieces_at(stamps, 10.25), 0.25);
  EXPECT_DOUBLE_EQ(pieces_at(stamps, 12), 1.5);
  EXPECT_DOUBLE_EQ(pieces_at(stamps, 20), 2);
  EXPECT_DOUBLE_EQ(pieces_at({}, 20), 0);
}

TEST(LoadBytes, StreamBeyondTheCacheThatAllRanksOfAHostShare) {
  constexpr std::size_t mib = 1 << 20;
  EXPECT_GE(load_bytes(LoadKind::memory, 32 * mib, 1), 128 * mib);
  EXPECT_LT(load_bytes(LoadKind::memory, 32 * mib, 1), 129 * mib);
  EXPECT_GE(64 * load_bytes(LoadKind::memory, 32 * mib, 64), 128 * mib);
  EXPECT_GT(load_bytes(LoadKind::memory, 0, 1), 100 * mib);
  EXPECT_LT(load_bytes(LoadKind::cpu, 32 * mib, 1), mib);
}

TEST(ThreadLoad, WorksFromResumeToPause) {
  for (const LoadKind kind : {LoadKind::cpu, LoadKind::memory}) {
    const auto load = start_load(kind, load_bytes(kind, 1 << 20, 1), nullptr);
    for (int time = 0; time < 3; ++time) {
      const double before = monotonic_seconds();
      load->resume();
      const double begun = monotonic_seconds();
      load->pause();
      EXPECT_EQ(load->done_at(before), 0) << name(kind);
      EXPECT_GT(load->done_at(begun), 0) << name(kind);
      EXPECT_EQ(load->done_at(begun + 60), load->done_at(begun + 61)) << name(kind);
    }
  }
}

// A rank that fails while its load works: the thread ends with it.
TEST(ThreadLoad, EndsWhileItWorks) {
  const auto load = start_load(LoadKind::cpu, load_bytes(LoadKind::cpu, 0, 1), nullptr);
  load->resume();
}

// A GPU that fails in the middle: the rank learns it, and does not wait.
TEST(ThreadLoad, HandsOnWhatItsWorkThrows) {
  struct Broken : Device {
    Memory memory() const override { return Memory::cuda; }
    DeviceInfo info() const override { return {}; }
    std::size_t available() const override { return 0; }
    void use() const override {}
    Buffer allocate(std::size_t bytes) override {
      return {new std::byte[bytes], bytes, [](std::byte* p) { delete[] p; }};
    }
    void copy(void* /*to*/, const void* /*from*/, std::size_t /*bytes*/) override {
      if (++copies > 3) throw Error("a copy: unspecified launch failure");
    }
    int copies = 0;
  };
  const auto load =
      start_load(LoadKind::copy, load_bytes(LoadKind::copy, 0, 1), std::make_unique<Broken>());
  EXPECT_THROW(
      {
        load->resume();
        for (int k = 0; k < 10; ++k) {
          load->pause();
          load->resume();
        }
      },
      Error);
}

}  // namespace
}  // namespace ccl_tests
