// Results files of one run and of several runs a side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "src/core/error.hpp"
#include "src/report/reporter.hpp"
#include "tests/unit/compare_samples.hpp"
#include "tests/unit/file_flags.hpp"
#include "tests/unit/temporary_folder.hpp"
#include "tools/compare/arguments.hpp"
#include "tools/compare/files.hpp"

namespace ccl_tests::compare {
namespace {

using test::run_of;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class CompareFiles : public ::testing::Test {
 protected:
  // Writes one file with these runs, as programs write them.
  std::string write(const std::string& name, const std::vector<NamedRun>& runs) {
    std::ostringstream all;
    for (const NamedRun& run : runs) {
      std::string path;
      {
        const auto reporter = file_reporter(folder_.file("run.jsonl"));
        path = reporter->path();
        reporter->begin(run.run.info);
        for (const Row& row : run.run.rows) reporter->row(row);
        if (run.run.summary) reporter->end(*run.run.summary);
      }
      all << std::ifstream(path).rdbuf();
    }
    return folder_.write(name, all.str());
  }

  // Runs whose times are `seconds`, an hour apart from `hour` on.
  static std::vector<NamedRun> runs(const std::vector<double>& seconds, int hour, int step = 1) {
    std::vector<NamedRun> all;
    for (const double time : seconds) {
      all.push_back(run_of("", time));
      all.back().run.info.start_time = "2026-11-20T" + std::to_string(hour) + ":00:00.000+01:00";
      hour += step;
    }
    return all;
  }

  static std::string refusal(const std::string& base, const std::string& head) {
    try {
      compare_files(base, head, {0.05});
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  }

  TemporaryFolder folder_;
};

TEST_F(CompareFiles, OneRunASideGivesHints) {
  const Report report = compare_files(write("base.jsonl", {run_of("", 1e-5)}),
                                      write("head.jsonl", {run_of("", 1.3e-5)}), {0.05});
  EXPECT_TRUE(report.hints);
  EXPECT_EQ(report.program, "all_reduce_perf");
  ASSERT_EQ(report.comparison.rows.size(), 2U);
  for (const RowResult& row : report.comparison.rows) EXPECT_EQ(verdict_text(row), "slower?");
  EXPECT_EQ(summary(report).code, Exit::passed);
  EXPECT_THAT(report.notes, Contains(HasSubstr("one run a side")));
}

TEST_F(CompareFiles, SeveralRunsASideAreTested) {
  const Report report =
      compare_files(write("base.jsonl", runs(std::vector<double>(6, 1e-5), 10, 2)),
                    write("head.jsonl", runs(std::vector<double>(6, 1.3e-5), 11, 2)), {0.05});
  EXPECT_FALSE(report.hints);
  for (const RowResult& row : report.comparison.rows)
    EXPECT_EQ(row.verdict, RowVerdict::slower);  // 2 rows, 1 / 64 each
  EXPECT_EQ(summary(report).code, Exit::too_slow);
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("in turns"))));
}

TEST_F(CompareFiles, SaysIfRunsWereNotMadeInTurnsOrAreTooFew) {
  const Report report = compare_files(write("base.jsonl", runs({1e-5, 1e-5, 1e-5}, 10)),
                                      write("head.jsonl", runs({1.3e-5, 1.3e-5}, 20)), {0.05});
  EXPECT_THAT(report.notes, Contains(HasSubstr("not made in turns")));
  EXPECT_THAT(report.notes, Contains(HasSubstr("3 runs in base, 2 in head")));
  EXPECT_THAT(report.notes, Contains(HasSubstr("at least 6 are needed")));
  EXPECT_EQ(summary(report).code, Exit::inconclusive);
}

TEST_F(CompareFiles, SaysIfARunDidNotReachItsEnd) {
  NamedRun killed = run_of("");
  killed.run.summary.reset();
  const Report report =
      compare_files(write("base.jsonl", {run_of("")}), write("head.jsonl", {killed}), {0.05});
  EXPECT_THAT(report.notes, Contains(HasSubstr("head.jsonl did not reach its end")));
}

TEST_F(CompareFiles, SaysIfASingleRunIsUnreliable) {
  NamedRun unreliable = run_of("");
  unreliable.run.summary->verdict = Verdict::unreliable;
  const Report report =
      compare_files(write("base.jsonl", {run_of("")}), write("head.jsonl", {unreliable}), {0.05});
  EXPECT_THAT(report.notes, Contains(HasSubstr("head.jsonl: do not quote its times")));
  EXPECT_THAT(report.notes, Not(Contains(HasSubstr("base.jsonl: do not quote"))));
}

// --duration and -N measure each row again and again.
TEST_F(CompareFiles, RowsOfManyCyclesHaveAnInterval) {
  const auto report_of = [&](int cycles, double seconds) {
    const auto file = [&](const std::string& name, double time) {
      NamedRun run = run_of("", time);
      run.run.rows.resize(static_cast<std::size_t>(cycles), run.run.rows.front());
      return write(name, {run});
    };
    return compare_files(file("base.jsonl", 1e-5), file("head.jsonl", seconds), {0.05});
  };
  const Report many = report_of(8, 1.3e-5);
  EXPECT_THAT(many.notes, Not(Contains(HasSubstr("no time has an interval"))));
  EXPECT_EQ(verdict_text(many.comparison.rows.front()), "slower?");
  EXPECT_THAT(report_of(3, 1.3e-5).notes, Contains(HasSubstr("nor have rows of two to five")));
}

TEST_F(CompareFiles, SaysWhatDrawsRunsOfTwoLibraries) {
  NamedRun other = run_of("");
  other.run.info.backend = "mpi";
  const std::string base = write("base.jsonl", {run_of("")});
  const std::string head = write("head.jsonl", {other});
  EXPECT_THAT(refusal(base, head), HasSubstr("'mpi' in " + head + "; scripts/plot.py '" + base +
                                             "' '" + head + "' -o both.svg draws both"));
  other = run_of("");
  other.run.rows.clear();
  EXPECT_THAT(refusal(base, write("empty.jsonl", {other})), Not(HasSubstr("plot")));
}

TEST_F(CompareFiles, RefusesWhatCannotBeRead) {
  const std::string good = write("good.jsonl", {run_of("")});
  EXPECT_THAT(refusal(good, folder_.file("none.jsonl")), HasSubstr("cannot read"));
  EXPECT_THAT(refusal(folder_.write("x", "hello\n"), good), HasSubstr("x:1: "));
  EXPECT_THAT(refusal(good, folder_.write("empty", "")), HasSubstr("holds no run"));
  EXPECT_THAT(refusal(good, folder_.path()), HasSubstr("Is a directory"));
  EXPECT_THAT(refusal(good, "/dev/zero"), HasSubstr("a line has more than "));
}

TEST_F(CompareFiles, RefusesRunsOfAnotherKindInOneFile) {
  NamedRun other = run_of("");
  other.run.info.backend = "mpi";
  const std::string mixed = write("mixed.jsonl", {run_of(""), other});
  EXPECT_THAT(
      refusal(mixed, write("good.jsonl", {run_of("")})),
      HasSubstr("backend is 'gloo' in " + mixed + " (run 1) and 'mpi' in " + mixed + " (run 2)"));
}

TEST(CompareArguments, SayWhatBecomesOfFiles) {
  ccl_tests::test::expect_uses_of_files<Arguments>();
}

}  // namespace
}  // namespace ccl_tests::compare
