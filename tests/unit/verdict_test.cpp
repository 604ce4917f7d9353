// Which exit code a run's rows and failures give, and what is said of them.
#include <regex>

#include "src/core/error.hpp"
#include "src/report/table_footer.hpp"
#include "tests/unit/spy_reporter.hpp"

namespace ccl_tests {
namespace {

using test::missed;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class VerdictTest : public test::RunResultsTest {};

TEST_F(VerdictTest, WrongDataIs7AndSaysWhereItIsAndHowToSeeItAgain) {
  Row bad = row(1, 1e-3);
  bad.root = 2;
  bad.in_place.wrong = 12;
  bad.in_place.failed_ranks = 2;
  bad.in_place.mismatches = {{2, "b", {}, {}, 9, 4096, 4104, "expected 0x1, found poison"},
                             {3, "c", 1, 0, 3, 0, 2, "expected 0x1, found 0x2"}};
  options.check.seed = 5;
  reporter().row(row(1, 1e-3), 512);
  reporter().row(bad, 1024);
  EXPECT_EQ(reporter().finish(0, {}), 7);
  EXPECT_EQ(seen.summary.failed_checks, 2U);
  EXPECT_EQ(seen.summary.exit_code, 7);
  EXPECT_EQ(seen.summary.verdict, Verdict::wrong);
  EXPECT_EQ(seen.summary.wrong_rows, 1U);
  EXPECT_EQ(seen.summary.wrong_elements, 12U);
  EXPECT_EQ(seen.summary.first_wrong,
            "rank 2 on b, 1024 B float sum root 2 in place, element 4096: expected 0x1, found "
            "poison");
  EXPECT_EQ(seen.summary.rerun, "-b 1K -e 1K -d float -o sum -r 2 -c 20 --seed 5");
  EXPECT_THAT(seen.summary.notes,
              Contains("wrong: 1024 B float sum root 2 in place: rank 3 (rank 0 of group 1) on c: "
                       "3 wrong, elements 0 to 2: expected 0x1, found 0x2"));
}

TEST(AdviceOnAWait, IsWhatWasSeenOfPeersAndRows) {
  RunInfo run;
  run.max_bytes = 1 << 26;
  run.rank_lines.resize(2);
  RunSummary summary;
  summary.complete = false;
  summary.verdict = Verdict::incomplete;
  summary.exit_code = 5;
  const auto next = [&] {
    const std::string text = footer_text(run, summary);
    return std::regex_replace(text.substr(text.find("# Next")), std::regex("\n# +"), " ");
  };
  EXPECT_THAT(next(), HasSubstr(": if the operation is only slow, a larger -T waits longer"));
  summary.errors = {"does not come to a call, or out of it: rank 1"};
  EXPECT_THAT(next(), HasSubstr(": a process that is stopped has state T (ps -o pid,stat)"));
  EXPECT_THAT(next(), Not(HasSubstr("larger -T")));
  run.rank_lines[1].host = "b";
  summary.errors = {"x; for 4 s there has been no sign of life from rank 1 on b"};
  EXPECT_THAT(next(), HasSubstr(": ping that host: it is down, or a cable is out"));
  EXPECT_THAT(next(), Not(HasSubstr("larger -T")));
  summary.errors = {"Timed out"};
  EXPECT_THAT(next(), HasSubstr(": nothing has passed between the hosts yet"));
  summary.rows = 4;
  summary.largest_bytes = 1 << 15;
  EXPECT_THAT(next(), HasSubstr("sizes up to 32 KiB passed between these hosts: see if large "
                                "packets do, too (ping -M do -s 8972 HOST"));
  summary.largest_bytes = run.max_bytes;
  EXPECT_THAT(next(), HasSubstr(": this size passed before: look at links and switches"));
}

TEST_F(VerdictTest, TheFailureSaysWhatCameFirstAndWhatWasDone) {
  reporter().finish(4, {"rank 0/3 on a: connection closed", "first: rank 1 on b is gone"},
                    "all_reduce float sum, 8 B, timed calls");
  EXPECT_EQ(seen.summary.failure,
            "rank 1 on b is gone during all_reduce float sum, 8 B, timed calls");
}

TEST_F(VerdictTest, TheFailureSaysOnceWhatWasDone) {
  reporter().finish(5, {"rank 0/3 on a: timed calls: timed out"}, "timed calls");
  EXPECT_EQ(seen.summary.failure, "rank 0/3 on a: timed calls: timed out");
}

TEST_F(VerdictTest, WrongDataOutweighsAFailedPeerButNotAnInterrupt) {
  Row bad = row(1, 1e-3);
  bad.out_of_place.failed_ranks = 1;
  reporter().row(bad, 1024);
  EXPECT_EQ(reporter().finish(4, {"x"}), 7);
}

// A run is as good as its typical time: one of six that is wide does not make it unreliable, four of six do.
TEST_F(VerdictTest, CallsARunUnreliableIfMostTimesAreWide) {
  for (const std::size_t wide : {1U, 3U, 4U}) {
    RunResults judge(options);
    judge.add(std::make_unique<test::SpyReporter>(seen));
    judge.begin({});
    for (std::size_t r = 0; r < 6; ++r) {
      Row one = row(1, 1e-3);
      const double half = r < wide ? 0.2e-3 : 0.01e-3;
      one.out_of_place.stream = StreamTimes{.low = 1e-3 - half, .high = 1e-3 + half};
      one.in_place.left_out = true;
      judge.row(one, std::size_t{1024} << r);
    }
    EXPECT_EQ(judge.finish(0, {}), 0);
    EXPECT_EQ(seen.summary.verdict, wide > 3 ? Verdict::unreliable : Verdict::ok);
    EXPECT_EQ(seen.summary.wide_times, wide);
    EXPECT_EQ(seen.summary.widest_times.size(), 3U);
    EXPECT_EQ(seen.summary.widest_times.at(0).place, "1 KiB");
    EXPECT_EQ(seen.summary.sure_from_bytes, std::size_t{1024} << wide);
  }
}

// In place NCCL does nothing for one rank: seen on a GPU, where half of all times were of that.
TEST_F(VerdictTest, DoesNotCountCallsThatDoNothing) {
  for (const int ranks : {1, 2}) {
    RunInfo run;
    run.ranks = ranks;
    RunResults judge(options);
    judge.add(std::make_unique<test::SpyReporter>(seen));
    judge.begin(run);
    for (std::size_t r = 0; r < 6; ++r) {
      Row one = row(1, 1e-3);
      one.out_of_place.stream = StreamTimes{.low = 0.99e-3, .high = 1.01e-3};
      one.in_place.seconds = 0.3e-6;
      one.in_place.stream = StreamTimes{.low = 0.2e-6, .high = 0.4e-6};
      judge.row(one, std::size_t{1024} << r);
    }
    EXPECT_EQ(judge.finish(0, {}), 0);
    EXPECT_EQ(seen.summary.times, ranks == 1 ? 6U : 12U);
    EXPECT_EQ(seen.summary.wide_times, ranks == 1 ? 0U : 6U);
  }
}

TEST_F(VerdictTest, AnInterruptIsItsSignal) {
  Row bad = row(1, 1e-3);
  bad.out_of_place.failed_ranks = 1;
  reporter().row(bad, 1024);
  EXPECT_EQ(reporter().finish(130, {"interrupted"}), 130);
}

TEST_F(VerdictTest, LimitsHoldForTheRequestedSizeAndBothHalves) {
  options.limits.min_busbw = {{1024, 2.0}};
  options.limits.max_time = {{1024, 500}};
  reporter().row(row(2.0, 500e-6), 1024);
  reporter().row(row(0.1, 1), 2048);
  EXPECT_EQ(reporter().finish(0, {}), 0);
}

TEST_F(VerdictTest, TooLittleBandwidthIs6) {
  options.limits.min_busbw = {{1024, 2.0}};
  Row slow = row(2.5, 1e-6);
  slow.in_place.busbw = 1.99;
  reporter().row(slow, 1024);
  EXPECT_EQ(reporter().finish(0, {}), 6);
  ASSERT_EQ(missed(seen.summary).size(), 1U);
  EXPECT_THAT(missed(seen.summary)[0], HasSubstr("1024 B float sum in place: busbw 1.9900"));
  EXPECT_EQ(seen.summary.verdict, Verdict::slow);
}

TEST_F(VerdictTest, TooMuchTimeIs6) {
  options.limits.max_time = {{1024, 500}};
  Row slow = row(1, 400e-6);
  slow.out_of_place.seconds = 501e-6;
  reporter().row(slow, 1024);
  EXPECT_EQ(reporter().finish(0, {}), 6);
  EXPECT_THAT(missed(seen.summary), Contains(HasSubstr("out of place: 501.00 us is above")));
}

TEST_F(VerdictTest, ALimitWhoseSizeWasNotMeasuredIsMissed) {
  options.limits.min_busbw = {{4096, 0}};
  reporter().row(row(1, 1e-3), 1024);
  EXPECT_EQ(reporter().finish(0, {}), 6);
  EXPECT_THAT(missed(seen.summary), Contains(HasSubstr("not measured: 4096 B, which --min-busbw")));
}

TEST_F(VerdictTest, MinimumAverageHasNcclTestsSlack) {
  options.limits.min_average_busbw = 10;
  reporter().row(row(9.0, 1e-3), 1024);
  EXPECT_EQ(reporter().finish(0, {}), 0);
  EXPECT_EQ(seen.summary.bandwidth_ok, true);
}

TEST_F(VerdictTest, BelowTheSlackIs6) {
  options.limits.min_average_busbw = 10;
  reporter().row(row(8.99, 1e-3), 1024);
  EXPECT_EQ(reporter().finish(0, {}), 6);
  EXPECT_EQ(seen.summary.bandwidth_ok, false);
}

TEST(ExitCodes, TheMoreTellingWins) {
  const int order[] = {7, 5, 4, 6, 8, 3, 2, 139, 0};
  for (std::size_t a = 0; a < std::size(order); ++a) {
    for (std::size_t b = a; b < std::size(order); ++b) {
      EXPECT_EQ(most_severe(order[a], order[b]), order[a]);
      EXPECT_EQ(most_severe(order[b], order[a]), order[a]);
    }
  }
}

TEST(ExitCodes, BelongToTheErrors) {
  EXPECT_EQ(exit_code(UsageError("").code()), 2);
  EXPECT_EQ(exit_code(Unsupported("").code()), 3);
  EXPECT_EQ(exit_code(Error("").code()), 4);
  EXPECT_EQ(exit_code(Timeout("").code()), 5);
}

}  // namespace
}  // namespace ccl_tests
