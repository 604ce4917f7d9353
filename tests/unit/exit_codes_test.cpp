// What monitors are told of a run, by exit code and in one line.
#include "src/core/exit_codes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "src/core/error.hpp"
#include "src/programs/monitored_run.hpp"
#include "src/report/verdict_file.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(ExitCodes, WhatIsNotKnownToHavePassedNeverPasses) {
  for (const ExitCodes codes : all_exit_codes())
    for (int native = 0; native < 256; ++native) {
      EXPECT_EQ(exit_status(codes, native).code == 0, native == 0) << name(codes) << ' ' << native;
      EXPECT_FALSE(exit_status(codes, native).word.empty());
    }
}

TEST(ExitCodes, AreThoseOfTheMonitors) {
  const auto status = [](ExitCodes codes, Exit native) {
    const ExitStatus found = exit_status(codes, exit_code(native));
    return std::to_string(found.code) + ' ' + std::string(found.word);
  };
  EXPECT_EQ(status(ExitCodes::nagios, Exit::passed), "0 OK");
  EXPECT_EQ(status(ExitCodes::nagios, Exit::too_slow), "1 WARNING");
  EXPECT_EQ(status(ExitCodes::nagios, Exit::wrong_data), "2 CRITICAL");
  EXPECT_EQ(status(ExitCodes::nagios, Exit::inconclusive), "3 UNKNOWN");
  EXPECT_EQ(status(ExitCodes::nagios, Exit::usage), "3 UNKNOWN");
  EXPECT_EQ(status(ExitCodes::npd, Exit::timed_out), "1 NonOK");
  EXPECT_EQ(status(ExitCodes::npd, Exit::inconclusive), "2 Unknown");
  EXPECT_EQ(status(ExitCodes::aicr, Exit::unsupported), "2 skipped");
  EXPECT_EQ(status(ExitCodes::aicr, Exit::usage), "1 failed");  // 2 would be skipped
  EXPECT_EQ(status(ExitCodes::native, Exit::wrong_data), "7 failed");
  constexpr int killed = 128 + 9;
  EXPECT_EQ(exit_status(ExitCodes::nagios, killed).word, "UNKNOWN");
  EXPECT_EQ(exit_status(ExitCodes::aicr, killed).word, "failed");
}

TEST(ExitCodes, AreFoundBeforeTheRestOfTheLineIsUnderstood) {
  EXPECT_FALSE(asked_exit_codes({}));
  EXPECT_FALSE(asked_exit_codes({"-b", "8"}));
  EXPECT_FALSE(asked_exit_codes({"--exit-codes", "native"}));
  EXPECT_EQ(asked_exit_codes({"--nonsense", "--exit-codes", "npd", "-b"}), ExitCodes::npd);
  EXPECT_EQ(asked_exit_codes({"--exit-codes=aicr"}), ExitCodes::aicr);
  EXPECT_THROW(asked_exit_codes({"--exit-codes", "icinga"}), UsageError);
}

RunInfo run() {
  RunInfo run;
  run.program = "all_reduce_perf";
  return run;
}

TEST(Headline, SaysTheMostSeriousThing) {
  RunSummary summary;
  summary.rows = 24;
  summary.verified_calls = 100;
  summary.peak = Peak{64 << 20, 12.34};
  EXPECT_EQ(headline(run(), summary), "all_reduce_perf: 24 rows right, peak 12.3 GB/s at 64 MiB");
  summary.verdict = Verdict::unreliable;
  EXPECT_THAT(headline(run(), summary), HasSubstr("at 64 MiB, times unreliable"));
  summary.wire = "interface: on a 50 MB left by eth0";
  EXPECT_THAT(headline(run(), summary), HasSubstr("times unreliable"));
  summary.wrong_wire = true;
  EXPECT_EQ(headline(run(), summary), "all_reduce_perf: interface: on a 50 MB left by eth0");
  summary.spoiled = "inject: 0 operations spoiled";
  EXPECT_THAT(headline(run(), summary),
              StartsWith("all_reduce_perf: --inject spoiled nothing that shows: "));
  summary.limits = {
      {.verdict = LimitVerdict::undecided, .flag = "--max-time", .text = "not decided: x"}};
  EXPECT_EQ(headline(run(), summary), "all_reduce_perf: not decided: x");
  summary.verdict = Verdict::slow;
  summary.limits.push_back(
      {.verdict = LimitVerdict::missed, .flag = "--max-time", .text = "too slow: y"});
  EXPECT_EQ(headline(run(), summary), "all_reduce_perf: too slow: y");
  summary.verdict = Verdict::wrong;
  summary.first_wrong = "rank 2 on b";
  EXPECT_EQ(headline(run(), summary), "all_reduce_perf: wrong data: rank 2 on b");
  summary.verdict = Verdict::incomplete;
  summary.failure = "rank 1 died";
  EXPECT_EQ(headline(RunInfo(), summary), "wrong data: rank 2 on b; rank 1 died");
}

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(VerdictFile, IsThereFromTheStartAndNeverPassesBeforeTheEnd) {
  const std::string path = testing::TempDir() + "verdict.json";
  const auto file = verdict_reporter(path);
  EXPECT_THAT(text_of(path), HasSubstr(R"("verdict":"incomplete")"));
  file->begin(run());
  EXPECT_THAT(text_of(path),
              StartsWith(R"({"line":"all_reduce_perf: the run has not reached its end",)"));
  RunSummary summary;
  summary.rows = 1;
  file->end(summary);
  EXPECT_THAT(text_of(path), StartsWith(R"({"line":"all_reduce_perf: 1 row not checked","run":{)"));
  EXPECT_THAT(text_of(path), HasSubstr(R"("verdict":"ok","complete":true,"exit_code":0)"));
  std::remove(path.c_str());
}

TEST(VerdictFile, ThatCannotBeWrittenIsRefused) {
  EXPECT_THROW(verdict_reporter(testing::TempDir() + "none/verdict.json"), UsageError);
}

TEST(TerminationLog, HoldsNoMoreThanKubernetesKeeps) {
  const std::string path = testing::TempDir() + "termination-log";
  std::ofstream(path) << "an earlier run's";
  const auto file = termination_reporter(path);
  EXPECT_THAT(text_of(path), HasSubstr("the run has not reached its end"));
  file->begin(run());
  EXPECT_THAT(text_of(path), StartsWith("all_reduce_perf: the run has not reached its end"));
  RunSummary summary;
  summary.verdict = Verdict::incomplete;
  summary.failure = "rank 1 died";
  summary.errors = {"first: rank 1 died", std::string(5000, 'x')};
  file->end(summary);
  EXPECT_THAT(text_of(path), StartsWith("all_reduce_perf: rank 1 died\nfirst: rank 1 died\nxxx"));
  EXPECT_EQ(text_of(path).size(), 4096U);
  std::remove(path.c_str());
  termination_reporter(testing::TempDir() + "none/log")->end(summary);  // is left
}

}  // namespace
}  // namespace ccl_tests
