// Times that are held to an earlier run's (--baseline), through files as the suite writes them.
#include "src/judge/limit_judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "src/core/error.hpp"
#include "src/report/reporter.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr LimitVerdict kept = LimitVerdict::kept, undecided = LimitVerdict::undecided,
                       missed = LimitVerdict::missed;

RunInfo info() {
  RunInfo run;
  run.program = "all_reduce_perf";
  run.backend = "gloo";
  run.ranks = 3;
  run.precision = 0.02;
  return run;
}

// `seconds` out of place, 1 s in place. half_width: of the intervals, over the times.
Row row(std::size_t bytes, double seconds, double half_width) {
  Row row;
  row.bytes = bytes;
  row.op = ReduceOp::sum;
  for (Measurement* cell : {&row.out_of_place, &row.in_place}) {
    cell->seconds = cell == &row.out_of_place ? seconds : 1;
    cell->stream = StreamTimes{.low = cell->seconds * (1 - half_width),
                               .high = cell->seconds * (1 + half_width)};
    cell->stream->fast = 0.9 * cell->seconds;
  }
  return row;
}

// Of a run whose times, measured again, differ by this much in the median.
RunSummary repeating_within(double difference) {
  RunSummary summary;
  summary.repeats = Repeatability{6, difference, 2 * difference, 1.5};
  return summary;
}
constexpr double little = 0.001;
const RunSummary well = repeating_within(little);

class BaselineTest : public testing::Test {
 protected:
  BaselineTest()
      : path_(testing::TempDir() + "baseline_" +
              testing::UnitTest::GetInstance()->current_test_info()->name() + ".jsonl") {
    std::remove(path_.c_str());
  }
  ~BaselineTest() override { std::remove(path_.c_str()); }

  // Appends a run to the file.
  void write(const RunInfo& run, const std::vector<Row>& rows,
             const RunSummary& summary = repeating_within(little)) {
    const std::string one = path_ + ".one.jsonl";
    std::remove(one.c_str());
    const auto file = file_reporter(one);
    file->begin(run);
    for (const Row& row : rows) file->row(row);
    file->end(summary);
    std::ofstream(path_, std::ios::app) << std::ifstream(one).rdbuf();
    std::remove(one.c_str());
  }
  std::string refusal(const RunInfo& run) const {
    try {
      Baseline(path_, 0.2).check(run);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "(accepted)";
  }
  LimitJudge judge_beside_baseline() const {
    Limits limits;
    limits.baseline = path_;
    LimitJudge judge(limits);
    judge.read_baseline();
    judge.begin(info());
    return judge;
  }
  LimitFinding out_of_place(const Row& row, const JudgeRule& rule = {}) const {
    return Baseline(path_, 0.2).hold(row, false, row.bytes, rule).value();
  }

  const std::string path_;
};

TEST_F(BaselineTest, IsHeldByTheIntervalOfTheRatio) {
  write(info(), {row(8, 1e-3, 0.03)});
  EXPECT_EQ(out_of_place(row(8, 1.1e-3, 0.04)).verdict, kept);
  const LimitFinding slow = out_of_place(row(8, 1.3e-3, 0.04));
  EXPECT_EQ(slow.verdict, missed);
  EXPECT_NEAR(slow.value.value(), 1.3, 1e-9);
  EXPECT_NEAR(slow.low.value(), 1.3 * 0.951, 2e-3);  // e to the power of -0.050
  EXPECT_NEAR(slow.high.value(), 1.3 * 1.051, 2e-3);
  EXPECT_EQ(slow.limit, 1.2);
  EXPECT_THAT(slow.text, HasSubstr("too slow: 8 B float sum out of place: 1300.00 us is 1.300 x "
                                   "the baseline's 1000.00 us, 1.23"));
  EXPECT_THAT(slow.text, HasSubstr("above 1 + --tolerance 20%"));
  const LimitFinding near = out_of_place(row(8, 1.22e-3, 0.04));
  EXPECT_EQ(near.verdict, undecided);
  EXPECT_THAT(near.text, HasSubstr("on both sides of 1 + --tolerance 20%"));
}

TEST_F(BaselineTest, OfAnotherArithmeticDecidesNothing) {
  Row library = row(8, 1e-3, 0.03), suite = row(8, 9e-3, 0.03);
  library.arithmetic = "library";
  suite.arithmetic = "suite";
  write(info(), {library});
  EXPECT_EQ(out_of_place(row(8, 9e-3, 0.03)).verdict, missed);  // it is not known
  EXPECT_EQ(out_of_place(library).verdict, kept);
  const LimitFinding other = out_of_place(suite);
  EXPECT_EQ(other.verdict, undecided);
  EXPECT_THAT(other.text,
              StartsWith("not decided: 8 B float sum out of place: its arithmetic is the "
                         "suite's, and was the library's in '" +
                         path_ + "'; use the same"));
}

TEST_F(BaselineTest, SaysHowManyRunsDidNotReachTheirEnd) {
  write(info(), {row(8, 1e-3, 0.03)});
  EXPECT_EQ(Baseline(path_, 0.2).note(), "");
  RunSummary interrupted;
  interrupted.complete = false;
  write(info(), {row(8, 1e-3, 0.03)}, interrupted);
  EXPECT_THAT(Baseline(path_, 0.2).note(),
              HasSubstr("--baseline: the run in '" + path_ + "' did not reach its end"));
  write(info(), {row(8, 1e-3, 0.03)});
  EXPECT_THAT(Baseline(path_, 0.2).note(), HasSubstr("1 of 3 runs in '"));
}

// How far runs differ is not known of fewer than three of them.
TEST_F(BaselineTest, OfOneRunDecidesNothingWhereTimesDoNotRepeat) {
  const auto verdict_of = [&](const RunInfo& earlier, const RunSummary& summary,
                              const JudgeRule& rule) {
    std::remove(path_.c_str());
    write(earlier, {row(8, 1e-3, 0.01)}, summary);
    return out_of_place(row(8, 9e-3, 0.01), rule);
  };
  EXPECT_EQ(verdict_of(info(), repeating_within(0.02), {}).verdict, missed);
  RunInfo waiting = info();
  waiting.oversubscribed = true;
  const LimitFinding slow = verdict_of(waiting, repeating_within(little), {});
  EXPECT_EQ(slow.verdict, undecided);
  EXPECT_THAT(slow.text,
              StartsWith("not decided: 8 B float sum out of place: 9000.00 us is 9.000 x"));
  EXPECT_THAT(slow.text,
              HasSubstr("above 1 + --tolerance 20%; too few earlier runs to tell how far "
                        "runs differ; keep three or more, or use ccl_compare"));
  EXPECT_EQ(verdict_of(info(), repeating_within(little), {.judged_by = JudgedBy::fast}).verdict,
            undecided);
  EXPECT_EQ(verdict_of(info(), repeating_within(0.03), {}).verdict, undecided);
  EXPECT_EQ(verdict_of(info(), {}, {}).verdict, undecided) << "no time was measured again";
  EXPECT_EQ(verdict_of(info(), repeating_within(little), {.repeats = false}).verdict, undecided);
}

TEST_F(BaselineTest, IsHeldByTheFastCallsWhereRanksWaitForCpus) {
  for (int run = 0; run < 3; ++run) write(info(), {row(8, 1e-3, 0.5)});
  const JudgeRule rule = {.judged_by = JudgedBy::fast};
  EXPECT_EQ(out_of_place(row(8, 1.19e-3, 0.5), rule).verdict, kept);
  const LimitFinding slow = out_of_place(row(8, 1.21e-3, 0.5), rule);
  EXPECT_EQ(slow.verdict, missed);
  EXPECT_THAT(slow.text, HasSubstr(" us (10th percentile) is 1.210 x 3 earlier runs' "));
}

TEST_F(BaselineTest, IsTheLastRunOfTheFileAndOfCyclesTheOneInTheMiddle) {
  write(info(), {row(8, 1, 0)});
  write(info(), {row(8, 4e-3, 0), row(8, 2e-3, 0), row(8, 1e-3, 0)});
  EXPECT_NEAR(out_of_place(row(8, 2e-3, 0)).value.value(), 1, 1e-9);
}

TEST_F(BaselineTest, OfThreeRunsKnowsHowFarRunsDiffer) {
  for (const double seconds : {0.9e-3, 1e-3, 1.1e-3}) write(info(), {row(8, seconds, 0.01)});
  const LimitFinding found = out_of_place(row(8, 1.5e-3, 0.01));
  // The logarithms' standard deviation is 0.1004; Student's t of 2 degrees 4.303; times the square root of 4/3.
  const double half = std::hypot(4.303 * 0.1004 * std::sqrt(4.0 / 3), 0.01);
  EXPECT_NEAR(found.value.value(), 1.5 / 0.9966, 1e-3);
  EXPECT_NEAR(std::log(*found.high / *found.value), half, 2e-3);
  EXPECT_NEAR(std::log(*found.value / *found.low), half, 2e-3);
  EXPECT_EQ(found.verdict, undecided);  // 1.5 would be missed beside a single run
  EXPECT_THAT(found.text, HasSubstr("x 3 earlier runs' 996.6"));
  EXPECT_EQ(out_of_place(row(8, 2.5e-3, 0.01)).verdict, missed);
}

// Three times that happen to agree do not make a row certain, beside others that do not agree.
TEST_F(BaselineTest, OfThreeRunsKnowsWhatIsUsualAmongRows) {
  for (const double other : {0.8e-3, 1e-3, 1.25e-3}) {
    std::vector<Row> rows = {row(8, 1e-3, 0)};
    for (std::size_t bytes = 16; bytes <= std::size_t{16} << 15; bytes *= 2)
      rows.push_back(row(bytes, other, 0));
    for (Row& one : rows) one.in_place = one.out_of_place;
    write(info(), rows);
  }
  EXPECT_EQ(out_of_place(row(8, 1.3e-3, 0)).verdict, undecided);
  EXPECT_EQ(out_of_place(row(16, 1.3e-3, 0)).verdict, undecided);
  EXPECT_EQ(out_of_place(row(8, 3e-3, 0)).verdict, missed);
}

TEST_F(BaselineTest, ARowOfOneOfThreeRunsHasThatRunsInterval) {
  write(info(), {row(8, 1e-3, 0.4)}, repeating_within(little));
  write(info(), {row(16, 1e-3, 0.01)});
  write(info(), {row(16, 1e-3, 0.01)});
  EXPECT_THAT(out_of_place(row(8, 1.4e-3, 0.01)).text, HasSubstr("on both sides of 1 + "));
  EXPECT_EQ(out_of_place(row(8, 2e-3, 0.01)).verdict, missed);
}

TEST_F(BaselineTest, RefusesRunsOfDifferentThings) {
  RunInfo other = info();
  other.ranks = 4;
  write(other, {row(8, 1e-3, 0)});
  write(info(), {row(8, 1e-3, 0)});
  EXPECT_EQ(refusal(info()), "(accepted)");  // the last one of two
  write(info(), {row(8, 1e-3, 0)});
  EXPECT_THAT(refusal(info()), HasSubstr("ranks is '4' in "));
}

TEST_F(BaselineTest, RefusesARunOfSomethingElse) {
  write(info(), {row(8, 1e-3, 0)});
  EXPECT_EQ(refusal(info()), "(accepted)");
  RunInfo other = info();
  other.ranks = 4;
  EXPECT_THAT(refusal(other), HasSubstr("--baseline: cannot compare: ranks is '3' in "));
  other = info();
  other.precision.reset();
  EXPECT_THAT(refusal(other), HasSubstr("mean of a batch (-n)"));
}

TEST_F(BaselineTest, RefusesAFileWithoutTimes) {
  EXPECT_THAT(refusal(info()), HasSubstr("--baseline: "));  // no file
  std::ofstream(path_) << "";
  EXPECT_THAT(refusal(info()), HasSubstr("holds no run"));
  write(info(), {});
  EXPECT_THAT(refusal(info()), HasSubstr("has no times"));
  RunSummary wrong;
  wrong.wrong_rows = 1;
  write(info(), {row(8, 1e-3, 0)}, wrong);
  EXPECT_THAT(refusal(info()), HasSubstr("found wrong data"));
  Row of_killed = row(8, 1e-3, 0);
  of_killed.in_place.wrong = 1;
  std::ofstream(path_) << "";
  write(info(), {of_killed});
  EXPECT_THAT(refusal(info()), HasSubstr("found wrong data: 8 B float sum in place"));
}

TEST_F(BaselineTest, MarksRowsAndJudgesThemAgainAtTheEnd) {
  write(info(), {row(8, 1e-3, 0.01), row(16, 1e-3, 0.01)});
  Limits limits;
  limits.max_time = {{16, 1}};
  limits.baseline = path_;
  LimitJudge judge(limits);
  judge.read_baseline();
  judge.begin(info());
  Row slow = row(8, 1.3e-3, 0.01);
  Row other = row(32, 9, 0.01);
  judge.mark(slow, 8);
  judge.mark(other, 32);
  EXPECT_EQ(slow.out_of_place.limit, missed);
  EXPECT_EQ(slow.in_place.limit, kept);
  EXPECT_FALSE(other.out_of_place.limit);
  LimitJudge partly = judge;
  partly.add(slow, 8);
  partly.add(other, 32);
  EXPECT_THAT(limit_lines(partly.judge(well), undecided),
              ElementsAre(HasSubstr("2 of 4 times are not in ")));
  judge.add(slow, 8);
  EXPECT_THAT(
      limit_lines(judge.judge(well), missed),
      ElementsAre(HasSubstr("8 B float sum out of place"), HasSubstr("not measured: 16 B")));
  // Times of this run repeat within 10 % only.
  EXPECT_THAT(limit_lines(judge.judge(repeating_within(0.05)), undecided),
              ElementsAre(HasSubstr("8 B float sum out of place")));
}

// Where two cores exchange data more slowly than in the earlier runs, a long time is the machine's. Where they are
// faster, a slower library may not show.
TEST_F(BaselineTest, DecidesNothingInAnotherStateOfTheMachine) {
  RunInfo earlier = info();
  RunSummary summary = repeating_within(little);
  earlier.core_to_core = 90e-9;
  summary.core_to_core = 110e-9;
  write(earlier, {row(8, 1e-3, 0.01)}, summary);
  LimitJudge judge = judge_beside_baseline();
  judge.add(row(8, 1.5e-3, 0.01), 8);
  const auto verdicts = [&](std::optional<double> before, double after) {
    RunInfo run = info();
    run.core_to_core = before;
    judge.begin(run);
    RunSummary now = well;
    now.core_to_core = after;
    const auto all = judge.judge(now);
    return std::pair(limit_lines(all, missed).size(), limit_lines(all, undecided));
  };
  EXPECT_EQ(verdicts(100e-9, 160e-9).first, 1U);
  EXPECT_EQ(verdicts(std::nullopt, 61e-9).first, 1U);
  for (const double other : {340e-9, 50e-9})
    for (const bool later : {false, true}) {
      const auto [slow, lines] = verdicts(later ? 100e-9 : other, later ? other : 100e-9);
      EXPECT_EQ(slow, 0U) << other;
      EXPECT_THAT(lines, ElementsAre(HasSubstr("the machine is in another state than in ")));
      EXPECT_THAT(lines, ElementsAre(HasSubstr(other > 1e-7 ? "takes 340 ns" : "takes 50 ns")));
      EXPECT_THAT(lines, ElementsAre(HasSubstr("took 90 to 110 ns there")));
    }
}

// A program beside the ranks makes all rows twice as slow. That is a regression only if it ran before, too.
TEST_F(BaselineTest, DecidesNothingBesideOtherPrograms) {
  const CpuUse alone{.cpus = 2, .others = 0.05, .idle = 0};
  const CpuUse beside{.cpus = 2, .others = 0.6, .idle = 0.1};
  const CpuUse room{.cpus = 16, .others = 1, .idle = 13};
  EXPECT_TRUE(is_crowded(beside));
  EXPECT_FALSE(is_crowded(alone) || is_crowded(room));
  RunSummary summary = repeating_within(little);
  for (const CpuUse& then : {alone, beside})
    for (const CpuUse& now : {alone, beside, room}) {
      summary.cpu_use = then;
      std::remove(path_.c_str());
      write(info(), {row(8, 1e-3, 0.01)}, summary);
      LimitJudge judge = judge_beside_baseline();
      judge.add(row(8, 1.5e-3, 0.01), 8);
      RunSummary later = well;
      later.cpu_use = now;
      const auto all = judge.judge(later);
      const bool decides = !is_crowded(now) || is_crowded(then);
      EXPECT_EQ(limit_lines(all, missed).size(), decides ? 1U : 0U);
      if (decides) continue;
      EXPECT_THAT(limit_lines(all, undecided),
                  ElementsAre(HasSubstr("other programs used 0.6 of 2 CPUs, in ")));
    }
}

TEST_F(BaselineTest, WithNoneOfTheRowsDecidesNothing) {
  write(info(), {row(8, 1e-3, 0.01)});
  LimitJudge judge = judge_beside_baseline();
  judge.add(row(16, 1, 0), 16);
  EXPECT_THAT(limit_lines(judge.judge({}), undecided),
              ElementsAre(HasSubstr("2 of 2 times are not in ")));
  EXPECT_THAT(limit_lines(judge.judge({}), missed), IsEmpty());
  RunSummary failed;
  failed.complete = false;
  EXPECT_THAT(judge.judge(failed), IsEmpty());  // the run failed for another reason
}

}  // namespace
}  // namespace ccl_tests
