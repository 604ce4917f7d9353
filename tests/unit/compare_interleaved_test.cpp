// Screen and test in turns, with runs and probes that are made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "src/core/error.hpp"
#include "tests/unit/compare_samples.hpp"
#include "tools/compare/interleaved.hpp"
#include "tools/compare/report.hpp"

namespace ccl_tests::compare {
namespace {

using test::key;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Rows of 8, 16 and 32 B that take 1 s; those of the head take `head` seconds.
struct Fake {
  std::map<std::size_t, double> head = {{8, 1}, {16, 1}, {32, 1}};
  std::vector<double> probes;  // taken in turns; empty: no probe
  std::string order;           // of the runs: b, h
  std::vector<std::set<std::size_t>> sizes;
  std::size_t probed = 0;

  Machine machine() {
    Machine m;
    m.run = [this](Side side, const std::set<std::size_t>& wanted) {
      order += side == Side::base ? 'b' : 'h';
      sizes.push_back(wanted);
      RunTimes times;
      for (const auto& [bytes, seconds] : head)
        if (wanted.empty() || wanted.contains(bytes))
          times[key(bytes)] = {side == Side::base ? 1 : seconds, {}};
      return times;
    };
    if (!probes.empty()) m.probe = [this] { return probes[probed++ % probes.size()]; };
    return m;
  }
};

TEST(CompareInterleaved, NothingIsTestedIfNothingIsFlagged) {
  Fake fake;
  const Comparison result = compare_interleaved(fake.machine(), {});
  EXPECT_EQ(fake.order, "bhhb");
  ASSERT_EQ(result.rows.size(), 3U);
  for (const RowResult& row : result.rows) EXPECT_EQ(row.verdict, RowVerdict::unflagged);
  EXPECT_EQ(result.tested_pairs, 0U);
}

TEST(CompareInterleaved, TestsFlaggedSizesWithFreshPairs) {
  Fake fake;
  fake.head[16] = 1.3;
  fake.head[32] = 0.7;
  const Comparison result = compare_interleaved(fake.machine(), {});
  EXPECT_EQ(fake.order, "bhhb" + std::string("bhhbbhhbbhhbbhhbbhhbbhhb"));
  EXPECT_TRUE(fake.sizes[3].empty());
  EXPECT_THAT(fake.sizes[4], ElementsAre(16U, 32U));
  EXPECT_EQ(result.rows[0].verdict, RowVerdict::unflagged);
  EXPECT_EQ(result.rows[1].verdict, RowVerdict::slower);
  EXPECT_EQ(result.rows[2].verdict, RowVerdict::faster);
  EXPECT_EQ(result.rows[1].pairs, 12U);
  EXPECT_NEAR(*result.rows[1].p_slower, 2.0 / 4096, 1e-12) << "Holm's correction over two rows";
}

TEST(CompareInterleaved, AsksForAllSizesIfAllAreFlagged) {
  Fake fake;
  for (auto& [bytes, seconds] : fake.head) seconds = 1.3;
  compare_interleaved(fake.machine(), {});
  EXPECT_TRUE(fake.sizes.back().empty());
}

TEST(CompareInterleaved, DrawsAPairAgainIfTheMachineChanged) {
  Fake fake;
  fake.probes = {1e-7, 4e-7, 1e-7, 1e-7, 1e-7, 1.4e-7};  // the first pair of each three changes
  const Comparison result = compare_interleaved(fake.machine(), {});
  EXPECT_EQ(result.redrawn, 1U);
  EXPECT_EQ(result.screened_pairs, 2U);
  EXPECT_EQ(fake.order, "bhbhhb");
  EXPECT_DOUBLE_EQ(result.probes->low, 1e-7);
  EXPECT_DOUBLE_EQ(result.probes->high, 4e-7);
}

TEST(CompareInterleaved, GivesUpAfterThreeTimesAsManyTries) {
  Fake fake;
  fake.probes = {1e-7, 4e-7};
  try {
    compare_interleaved(fake.machine(), {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::inconclusive);
    EXPECT_THAT(e.what(), HasSubstr("6 pairs"));
    EXPECT_THAT(e.what(), HasSubstr("100 to 400 ns"));
  }
  EXPECT_EQ(fake.order.size(), 12U);
}

TEST(CompareInterleaved, RowsWithoutAPairAreInconclusive) {
  Fake fake;
  fake.head[8] = 1.3;
  fake.probes.assign(4, 1e-7);  // the screen is steady
  for (int i = 0; i < 100; ++i) fake.probes.push_back(i % 2 == 0 ? 1e-7 : 4e-7);  // the rest is not
  Report report;
  report.comparison = compare_interleaved(fake.machine(), {});
  EXPECT_EQ(report.comparison.tested_pairs, 0U);
  EXPECT_EQ(report.comparison.rows[0].verdict, RowVerdict::inconclusive);
  EXPECT_THAT(report.comparison.notes, ElementsAre(HasSubstr("0 of 12 pairs")));
  EXPECT_EQ(summary(report).code, Exit::inconclusive);
}

TEST(CompareInterleaved, TakesAsManyPairsAsTheTestNeeds) {
  Fake fake;
  fake.head[16] = 1.3;
  Plan plan;
  plan.pairs = 3;
  const Comparison result = compare_interleaved(fake.machine(), plan);
  EXPECT_EQ(result.tested_pairs, 5U);
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("5 pairs instead of 3")));
  EXPECT_EQ(result.rows[1].verdict, RowVerdict::slower);
}

// Rows whose base takes 1 s, and whose head takes what `head` says of the pair, the screen's two included.
Machine by_pair(std::size_t& runs, const std::function<RunTimes(std::size_t pair)>& head) {
  Machine machine;
  machine.run = [&runs, head](Side side, const std::set<std::size_t>& /*sizes*/) {
    RunTimes times = head(runs++ / 2);
    if (side == Side::base)
      for (auto& [row, time] : times) time.seconds = 1;
    return times;
  };
  return machine;
}

double in_turns(std::size_t pair) { return pair < 2 || pair % 2 == 0 ? 1.3 : 0.7; }

// The head takes 1.3 and 0.7 times as long in turns up to pair `steady`, and then as long as the base.
Machine unsteady(std::size_t steady, std::size_t& runs) {
  return by_pair(runs, [steady](std::size_t pair) {
    return RunTimes{{key(8), {pair < steady ? in_turns(pair) : 1, {}}}};
  });
}

TEST(CompareInterleaved, DoublesThePairsWhileRowsAreUndecided) {
  Plan plan;
  plan.most_pairs = 60;
  std::size_t runs = 0;
  Comparison result = compare_interleaved(unsteady(18, runs), plan);
  EXPECT_EQ(result.tested_pairs, 48U);  // of 12, 24, 48, 60
  EXPECT_EQ(result.looks, 4U);
  EXPECT_EQ(result.rows[0].verdict, RowVerdict::same);
  EXPECT_EQ(result.rows[0].pairs, 48U);
  runs = 0;
  result = compare_interleaved(unsteady(1000, runs), plan);
  EXPECT_EQ(result.tested_pairs, 60U);
  EXPECT_EQ(result.rows[0].verdict, RowVerdict::inconclusive);
  runs = 0;
  plan.most_pairs = 0;
  result = compare_interleaved(unsteady(1000, runs), plan);
  EXPECT_EQ(result.tested_pairs, 12U);
  EXPECT_EQ(result.looks, 1U);
}

// The first look comes after 12 pairs: all of them, or what the time allows.
TEST(CompareInterleaved, TheTimeBudgetEndsTheTest) {
  Plan plan;
  plan.most_pairs = 60;
  std::size_t runs = 0;
  Machine machine = unsteady(1000, runs);
  machine.out_of_time = [&] { return runs >= 2 * (2 + 30); };
  Report report;
  report.comparison = compare_interleaved(machine, plan);
  EXPECT_EQ(report.comparison.tested_pairs, 30U);
  EXPECT_EQ(report.comparison.rows[0].verdict, RowVerdict::inconclusive);
  EXPECT_THAT(report.comparison.notes,
              ElementsAre(HasSubstr("the time budget ended the test after 30 of 60 pairs: a longer "
                                    "--time-budget or fewer sizes decide more")));
  EXPECT_EQ(summary(report).code, Exit::inconclusive);
  runs = 0;
  machine.out_of_time = [] { return true; };
  report.comparison = compare_interleaved(machine, plan);
  EXPECT_EQ(runs, 4U) << "the screen is run";
  EXPECT_EQ(summary(report).code, Exit::inconclusive);
  EXPECT_THAT(report.comparison.notes, ElementsAre(HasSubstr("after 0 of 60 pairs")));
  Fake fake;
  fake.head[16] = 1.3;
  machine = fake.machine();
  machine.out_of_time = [&] { return fake.order.size() >= 4 + 2 * 12; };
  report.comparison = compare_interleaved(machine, plan);
  EXPECT_EQ(summary(report).code, Exit::too_slow);
  EXPECT_TRUE(report.comparison.notes.empty()) << "what is decided needs no more time";
}

// 16 B are faster at the first look, and 8 B undecided; later ones do not take that back.
TEST(CompareInterleaved, WhatALookConfirmsStays) {
  std::size_t runs = 0;
  const Machine machine = by_pair(runs, [](std::size_t pair) {
    return RunTimes{{key(8), {in_turns(pair), {}}}, {key(16), {pair < 14 ? 0.5 : 1.3, {}}}};
  });
  Plan plan;
  plan.most_pairs = 24;
  const Comparison result = compare_interleaved(machine, plan);
  EXPECT_EQ(result.tested_pairs, 24U);
  EXPECT_EQ(result.rows[0].verdict, RowVerdict::inconclusive);
  EXPECT_EQ(result.rows[1].verdict, RowVerdict::faster);
}

TEST(CompareInterleaved, EachLookHasItsPartOfTheFalseAlarms) {
  Fake fake;
  fake.head[16] = 1.3;
  Plan plan;
  plan.most_pairs = 48;
  const Comparison result = compare_interleaved(fake.machine(), plan);
  EXPECT_EQ(result.tested_pairs, 12U);
  EXPECT_EQ(result.rows[1].verdict, RowVerdict::slower);
  EXPECT_NEAR(*result.rows[1].p_slower, 3.0 / 4096, 1e-12);
}

TEST(CompareInterleaved, RefusesSidesWithoutACommonRow) {
  Machine machine;
  machine.run = [](Side side, const std::set<std::size_t>&) {
    return RunTimes{{key(side == Side::base ? 8 : 16), {1, {}}}};
  };
  EXPECT_THROW(compare_interleaved(machine, {}), UsageError);
}

Report report_of(std::vector<RowVerdict> verdicts) {
  Report report;
  for (const RowVerdict verdict : verdicts) {
    RowResult& row = report.comparison.rows.emplace_back();
    row.verdict = verdict;
    row.flagged = true;
  }
  return report;
}

TEST(CompareExitCode, TheMostTellingRowCounts) {
  using enum RowVerdict;
  EXPECT_EQ(summary(report_of({same, faster, not_slower, unflagged})).code, Exit::passed);
  EXPECT_EQ(summary(report_of({same, slower, inconclusive})).code, Exit::too_slow);
  EXPECT_EQ(summary(report_of({same, inconclusive})).code, Exit::inconclusive);
  Report unflagged_row = report_of({inconclusive});
  unflagged_row.comparison.rows[0].flagged = false;
  EXPECT_EQ(summary(unflagged_row).code, Exit::passed);
}

TEST(CompareExitCode, HintsPassAndDifferencesOfAAFail) {
  using enum RowVerdict;
  Report hints = report_of({slower});
  hints.hints = true;
  EXPECT_EQ(summary(hints).code, Exit::passed);
  Report aa = report_of({faster, inconclusive});
  aa.aa = true;
  EXPECT_EQ(summary(aa).code, Exit::too_slow);
  EXPECT_THAT(summary(aa).verdict, HasSubstr("1 false alarm in 2 rows"));
  aa = report_of({inconclusive, same});
  aa.aa = true;
  EXPECT_EQ(summary(aa).code, Exit::inconclusive) << "the noise hides differences";
  aa = report_of({unflagged, same});
  aa.aa = true;
  EXPECT_EQ(summary(aa).code, Exit::passed);
}

}  // namespace
}  // namespace ccl_tests::compare
