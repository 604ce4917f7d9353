// No false alarm: every program, type, operation and root, out of place and in place, on loopback
// and on Gloo.
#include <gmock/gmock.h>

#include <map>
#include <set>
#include <string>

#include "src/backends/loopback.hpp"
#include "src/backends/registry.hpp"
#include "src/devices/host_limits.hpp"
#include "src/record/row_text.hpp"
#include "tests/ranks/on_backend.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

class Right : public OnBackend {
 protected:
  static void expect_right(const Outcome& outcome, const Collective& collective) {
    EXPECT_EQ(outcome.exit_code, 0) << collective.name << ' ' << outcome.text();
    EXPECT_FALSE(outcome.rows.empty());
    for (const Row& row : outcome.rows) {
      EXPECT_EQ(row.out_of_place.wrong, 0U) << collective.name << ' ' << row_name(row, row.bytes);
      if (!row.in_place.repeats_out_of_place) {
        EXPECT_EQ(row.in_place.wrong, 0U) << collective.name << ' ' << row_name(row, row.bytes);
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, Right, every_backend);

// What adds two elements of a type is the same for every program, and Gloo sees a type's width: all
// types with all_reduce, and on loopback with every program once. EveryBitwiseOperation has small
// sizes.
TEST_P(Right, EveryTypeAndOperation) {
  const bool small = backend_->name() == "loopback" || nightly();
  const bool all = small && at_one_number(ranks());
  for (const Collective* collective : all_collectives()) {
    if (!runs_on(*collective, ranks())) continue;
    Options o = quick(ranks());
    if (all || collective == &collectives::all_reduce)
      o.sweep.types.assign(all_types().begin(), all_types().end());
    else
      o.sweep.types = one_type_of_each_width();
    o.sweep.ops.assign(all_ops().begin(), all_ops().end());
    o.sweep.sizes = {5000};
    if (small) o.sweep.sizes.push_back(8);
    o.measure.iterations = 1;
    o.measure.warmup = 0;
    expect_right(run(*collective, o, *backend_), *collective);
  }
}

// -O: what is measured is right, and the other placement has no call.
TEST_P(Right, EveryPlacementAlone) {
  for (const Collective* collective : all_collectives()) {
    if (!runs_on(*collective, ranks())) continue;
    for (const Placements placements : {Placements::out_of_place, Placements::in_place}) {
      Options o = quick(ranks());
      o.sweep.sizes = {1000};
      o.sweep.placements = placements;
      const Outcome outcome = run(*collective, o, *backend_);
      if (outcome.exit_code == exit_code(Exit::usage)) {
        EXPECT_EQ(placements, Placements::in_place) << collective->name;
        EXPECT_THAT(outcome.text(), testing::HasSubstr("has no in-place form")) << collective->name;
        continue;
      }
      EXPECT_EQ(outcome.exit_code, 0) << collective->name << ' ' << outcome.text();
      EXPECT_FALSE(outcome.rows.empty()) << collective->name;
      for (const Row& row : outcome.rows) {
        const bool in_place = placements == Placements::in_place;
        const Measurement& other = in_place ? row.out_of_place : row.in_place;
        EXPECT_TRUE(other.left_out) << collective->name;
        EXPECT_EQ(other.calls, 0U) << collective->name;
        EXPECT_TRUE(row.first_measured().has_own_time()) << collective->name;
        EXPECT_EQ(row.first_measured().wrong, 0U) << collective->name;
        EXPECT_GT(row.first_measured().verified_calls, 0U) << collective->name;
      }
    }
  }
}

TEST_P(Right, EveryBitwiseOperation) {
  for (const Collective* collective : all_collectives()) {
    if (!collective->domain.reduces || !collective->domain.ops.empty()) continue;
    Options o = quick(ranks());
    o.sweep.types = {DataType::int8,   DataType::uint8, DataType::int32,
                     DataType::uint32, DataType::int64, DataType::uint64};
    o.sweep.ops = {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor};
    o.sweep.sizes = {8, 5000};
    o.measure.iterations = 1;
    o.measure.warmup = 0;
    const Outcome outcome = run(*collective, o, *backend_);
    expect_right(outcome, *collective);
    EXPECT_EQ(outcome.rows.size(),
              o.sweep.types.size() * o.sweep.ops.size() * o.sweep.sizes.size());
  }
}

TEST_P(Right, EveryRoot) {
  for (const Collective* collective : all_collectives()) {
    if (!collective->domain.rooted) continue;
    Options o = quick(ranks());
    o.sweep.all_roots = true;
    const Outcome outcome = run(*collective, o, *backend_);
    expect_right(outcome, *collective);
    EXPECT_EQ(outcome.rows.size(), o.sweep.sizes.size() * static_cast<std::size_t>(ranks()));
  }
}

TEST_P(Right, UnevenBlocks) {
  for (const Collective* collective : all_collectives()) {
    if (!collective->flags.skew) continue;
    for (const Skew skew : {Skew::linear, Skew::one_large}) {
      Options o = quick(ranks());
      o.spec.skew = skew;
      o.sweep.all_roots = collective->domain.rooted;
      o.sweep.types = {DataType::int8, DataType::float32};
      o.sweep.ops = {ReduceOp::sum, ReduceOp::avg, ReduceOp::mulsum};
      o.sweep.sizes = {8, 700, 100'000};
      o.measure.iterations = 1;
      o.measure.warmup = 0;
      expect_right(run(*collective, o, *backend_), *collective);
    }
  }
}

// Of 3 MB the largest block is more than what the ring over Gloo has in flight.
using RightOnGloo = Right;
INSTANTIATE_TEST_SUITE_P(Backends, RightOnGloo,
                         testing::Combine(every_gloo, testing::Values(3, 4)));
TEST_P(RightOnGloo, LargeUnevenBlocks) {
  for (const Collective* collective : all_collectives()) {
    if (!collective->flags.skew) continue;
    for (const Skew skew : {Skew::linear, Skew::one_large}) {
      Options o = quick(ranks());
      o.spec.skew = skew;
      o.sweep.sizes = {3'000'000};
      expect_right(run(*collective, o, *backend_), *collective);
    }
  }
}

TEST_P(Right, MoreTimedCallsThanSlots) {
  for (const Collective* collective :
       {&collectives::all_reduce, &collectives::reduce_scatter, &collectives::all_gather}) {
    Options o = quick(ranks());
    o.sweep.sizes = {200'000};
    o.measure.iterations = 7;
    o.measure.aggregate = 2;
    o.sweep.ops = {ReduceOp::sum, ReduceOp::prod, ReduceOp::avg};
    expect_right(run(*collective, o, *backend_), *collective);
  }
}

TEST_P(Right, BlockingModesUnalignedBuffersAndAverages) {
  for (int mode = 0; mode <= 3; ++mode) {
    Options o = quick(ranks());
    o.measure.blocking = mode;
    o.measure.average = mode;
    o.sweep.unalign = 1;
    o.sweep.cycles = 2;
    o.measure.cpu_time = mode == 3;
    const Outcome outcome = run(collectives::all_reduce, o, *backend_);
    expect_right(outcome, collectives::all_reduce);
    EXPECT_EQ(outcome.rows.size(), 2 * o.sweep.sizes.size());
  }
}

TEST_P(Right, CheckOnlyAndUnchecked) {
  Options check_only = quick(ranks());
  check_only.measure.iterations = 0;
  const Outcome checked = run(collectives::all_reduce, check_only, *backend_);
  expect_right(checked, collectives::all_reduce);
  EXPECT_EQ(checked.rows[0].out_of_place.seconds, 0);
  EXPECT_EQ(checked.rows[0].out_of_place.busbw, 0);
  Options unchecked = quick(ranks());
  unchecked.check.calls = 0;
  unchecked.measure.warmup = 0;
  const Outcome fast = run(collectives::all_reduce, unchecked, *backend_);
  EXPECT_EQ(fast.exit_code, 0);
  EXPECT_FALSE(fast.rows[0].out_of_place.wrong.has_value());
  EXPECT_EQ(fast.summary.verified_calls, 0U);
}

TEST_P(Right, LimitsDecideTheExitCode) {
  const auto code = [&](auto&& change) {
    Options o = quick(ranks());
    change(o);
    return run(collectives::broadcast, o, *backend_).exit_code;
  };
  EXPECT_EQ(code([](Options& o) { o.limits.min_busbw = {{40'000, 1e6}}; }), 6);
  EXPECT_EQ(code([](Options& o) { o.limits.min_busbw = {{40'000, 0}}; }), 0);
  EXPECT_EQ(code([](Options& o) { o.limits.max_time = {{8, 0}}; }), 6);
  EXPECT_EQ(code([](Options& o) { o.limits.max_time = {{8, 1e9}}; }), 0);
  EXPECT_EQ(code([](Options& o) { o.limits.max_time = {{9, 1e9}}; }), 6);  // not measured
  EXPECT_EQ(code([](Options& o) { o.limits.min_average_busbw = 1e6; }), 6);
  EXPECT_EQ(code([](Options& o) { o.limits.min_average_busbw = 0; }), 0);
}

using EmulatedOnGloo = OnGloo;
INSTANTIATE_TEST_SUITE_P(Gloos, EmulatedOnGloo, every_gloo);
TEST_P(EmulatedOnGloo, MarksComposedOperations) {
  Options o = quick(3);
  o.sweep.ops = {ReduceOp::sum, ReduceOp::avg, ReduceOp::mulsum};
  o.sweep.sizes = {64};
  const Outcome outcome = run(collectives::all_reduce, o, *gloo_);
  ASSERT_EQ(outcome.rows.size(), 3U);
  EXPECT_FALSE(outcome.rows[0].emulated);
  EXPECT_TRUE(outcome.rows[1].emulated);
  EXPECT_TRUE(outcome.rows[2].emulated);
}

// What adds is the same for every program but for reduce_scatter, whose ring is the suite's.
using ArithmeticOnGloo = RightOnGloo;
INSTANTIATE_TEST_SUITE_P(Backends, ArithmeticOnGloo,
                         testing::Combine(every_gloo, testing::Values(1, 3, 4)));
TEST_P(ArithmeticOnGloo, OfGlooAndOfTheSuiteIsRightAndNamed) {
  using enum DataType;
  // The types that a choice leaves to the suite.
  const std::map<std::string, std::set<DataType>> choices = {
      {"", {uint32, half, bfloat16, f8e4m3, f8e5m2}},
      {"gloo", {bfloat16, f8e4m3, f8e5m2}},
      {"suite", {all_types().begin(), all_types().end()}}};
  const std::set<ReduceOp> gloos = {ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min};
  for (const auto& [choice, suites] : choices) {
    Options o = quick(ranks());
    o.sweep.sizes = {5000};
    o.measure.iterations = 1;
    o.measure.warmup = 0;
    if (!choice.empty()) o.backend.own["reduce"] = choice;
    const auto expect = [&, &choice = choice, &suites = suites](const Collective& collective) {
      const Outcome outcome = run(collective, o, *backend_);
      expect_right(outcome, collective);
      for (const Row& row : outcome.rows)
        EXPECT_EQ(row.arithmetic,
                  gloos.contains(*row.op) && !suites.contains(row.type) ? "library" : "suite")
            << choice << ' ' << row_name(row, row.bytes);
    };
    o.sweep.types.assign(all_types().begin(), all_types().end());
    o.sweep.ops = {ReduceOp::sum};
    expect(collectives::reduce);
    expect(collectives::reduce_scatter);
    o.sweep.ops.assign(all_ops().begin(), all_ops().end());
    expect(collectives::all_reduce);
    o.sweep.types = {int8, uint8, int32, uint32, int64, uint64};
    o.sweep.ops = {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor};
    expect(collectives::all_reduce);
  }
}

TEST(Coverage, ShortRowsSayWhatTheyDoNotShow) {
  Options o = quick(4);
  o.sweep.ops = {ReduceOp::max};
  o.sweep.sizes = {8};  // two elements show the loss of two of four ranks
  const Outcome outcome = run(collectives::all_reduce, o, *open_backend("loopback"));
  EXPECT_EQ(outcome.rows[0].coverage, 0.5);
  ASSERT_EQ(outcome.summary.notes.size(), 1U);
  EXPECT_THAT(outcome.summary.notes[0], testing::HasSubstr("rows up to 8 B are too short"));
}

// Of this host; 0 without the module that finds them.
std::size_t cores() {
  try {
    return cpu_topology().size();
  } catch (const Unsupported&) {
    return 0;
  }
}

TEST(Bind, RanksAreBoundAndTheHeaderSaysToWhat) {
  for (const int ranks : {1, 3, 4}) {
    Options o = quick(ranks);
    o.job.bind = "numa";
    const Outcome outcome = run(collectives::all_reduce, o, LoopbackBackend());
    if (cores() == 0) {
      EXPECT_EQ(outcome.exit_code, 3);
      EXPECT_THAT(outcome.text(), testing::HasSubstr("libhwloc-dev"));
      continue;
    }
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    std::string notes;
    for (const Note& note : outcome.info.notes) notes += note.text + '\n';
    EXPECT_THAT(notes, testing::HasSubstr("bind: numa: rank 0 CPUs "));
    EXPECT_THAT(notes, testing::HasSubstr("rank " + std::to_string(ranks - 1) + " CPUs "));
  }
}

// Has so many busy threads a rank that no machine of tests has a CPU for each.
class ManyThreads : public LoopbackBackend {
 public:
  explicit ManyThreads(int threads) : threads_(threads) {}
  BackendInfo info() const override {
    BackendInfo all = LoopbackBackend::info();
    all.threads_per_rank = threads_;
    return all;
  }

 private:
  int threads_;
};

TEST(Bind, RanksShareTheCpusWhereTheseAreShort) {
  const std::set<int> cpus = cpus_in(allowed_cpus());
  if (cpus.size() > 16) GTEST_SKIP() << "many CPUs";
  const auto bound = [&](int threads, const std::string& how) {
    Options o = quick(static_cast<int>(2 * cpus.size()));
    o.sweep.sizes = {8};
    if (!how.empty()) o.job.bind = how;
    const Outcome outcome = run(collectives::all_reduce, o, ManyThreads(threads));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
    std::string notes;
    for (const Note& note : outcome.info.notes)
      if (note.text.starts_with("bind: ")) notes += note.text;
    return notes;
  };
  const std::string first = std::to_string(*cpus.begin());
  EXPECT_THAT(bound(2, ""),
              testing::StartsWith("bind: short: rank 0 CPUs " + first + ", rank 1 CPUs " + first));
  EXPECT_EQ(bound(1, ""), "");
  EXPECT_EQ(bound(2, "none"), "");
}

TEST(Bind, TooManyThreadsAreAWarning) {
  Options o = quick(64);
  o.sweep.sizes = {8};
  o.job.bind = "auto";
  if (cores() == 0 || cores() >= 64) GTEST_SKIP() << "no hwloc, or many cores";
  const Outcome outcome = run(collectives::all_reduce, o, LoopbackBackend());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
  const auto not_bound = [](const Note& note) {
    return note.kind == NoteKind::warning && note.text.starts_with("--bind auto: rank 0 on ");
  };
  EXPECT_EQ(std::count_if(outcome.info.notes.begin(), outcome.info.notes.end(), not_bound), 1);
}

}  // namespace
}  // namespace ccl_tests::test
