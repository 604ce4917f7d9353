// The record of an acceptance run while it grows; rows against limits.
#include "tools/acceptance/journal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "src/core/error.hpp"
#include "tests/unit/temporary_folder.hpp"
#include "tools/acceptance/acceptance_job.hpp"
#include "tools/acceptance/report/writers.hpp"
#include "tools/acceptance/stages/stages.hpp"

namespace ccl_tests::acceptance {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Record header() {
  Record record{.plan = "p", .backend = "gloo", .library = "0.5"};
  record.hosts = {{"a", {0}, {}}, {"b", {1}, {}}};
  return record;
}
Check check(Verdict verdict, const char* reason, const char* subject = "run") {
  return {.id = reason, .subject = subject, .verdict = verdict, .reason = reason, .text = "text"};
}

class AcceptanceJournal : public testing::Test {
 protected:
  AcceptanceJournal() { journal_.begin(header()); }
  Record file() const {
    std::ifstream in(folder_.file("v.json"));
    std::ostringstream text;
    text << in.rdbuf();
    return read_verdict(text.str());
  }
  TemporaryFolder folder_;
  std::vector<std::string> told_;
  Journal journal_{folder_.file("v.json"),
                   [this](const std::string& line) { told_.push_back(line); }};
};

TEST_F(AcceptanceJournal, TheFileHasEachCheckAtOnce) {
  journal_.begin_stage("hosts", "what differs");
  EXPECT_EQ(file().plan, "p");
  journal_.add(check(Verdict::pass, "OK"));
  ASSERT_EQ(file().checks.size(), 1U);
  EXPECT_EQ(file().checks[0].stage, "hosts");
  EXPECT_EQ(file().stages.at(0).end_s, 0);
  journal_.add(check(Verdict::warn, "HOSTS_DIFFER", "host b"));
  journal_.end_stage();
  EXPECT_EQ(file().stages.at(0).verdict, Verdict::warn);
  EXPECT_GT(file().stages.at(0).end_s, 0);
  EXPECT_THAT(told_, ElementsAre("hosts: what differs", "hosts: WARN host b: text [HOSTS_DIFFER]",
                                 HasSubstr("hosts: WARN (")));
}

TEST_F(AcceptanceJournal, StagesLieWithinEachOther) {
  journal_.begin_stage("pairs", "");
  journal_.begin_stage("full", "");
  journal_.add(check(Verdict::pass, "OK"));
  journal_.end_stage();
  journal_.add(check(Verdict::fail, "SLOW_HOST", "host a"));
  journal_.end_stage();
  const Record record = journal_.record();
  EXPECT_EQ(record.stages[0].verdict, Verdict::fail);
  EXPECT_EQ(record.stages[1].verdict, Verdict::pass);
  EXPECT_EQ(record.checks[1].stage, "pairs");
}

TEST_F(AcceptanceJournal, WhatDidNotEndIsNoSuccess) {
  journal_.begin_stage("full", "");
  journal_.add(check(Verdict::pass, "OK"));
  journal_.end_stage();
  EXPECT_EQ(journal_.record().verdict, Verdict::inconclusive);
  journal_.complete();
  EXPECT_EQ(journal_.record().verdict, Verdict::pass);
  EXPECT_EQ(journal_.record().reason, "OK");
  EXPECT_EQ(exit_code_of(journal_.record()), 0);
  EXPECT_THAT(headline(journal_.record()), testing::StartsWith("PASS "));
}

TEST_F(AcceptanceJournal, NothingThatWasLookedAtIsNoSuccess) {
  journal_.begin_stage("full", "");
  journal_.add(check(Verdict::skipped, "NO_LIMIT"));
  journal_.end_stage();
  journal_.complete();
  EXPECT_EQ(journal_.record().verdict, Verdict::inconclusive);
  EXPECT_EQ(exit_code_of(journal_.record()), 8);
}

TEST_F(AcceptanceJournal, ALostHostIsNamedAndExcluded) {
  journal_.begin_stage("pairs", "");
  const Record record =
      journal_.end({.failure = 4, .errors = {"whatever the words are"}, .gone = {1}});
  EXPECT_EQ(record.verdict, Verdict::fail);
  EXPECT_EQ(record.reason, "HOST_LOST");
  EXPECT_THAT(headline(record), testing::StartsWith("FAIL b: "));
  EXPECT_THAT(record.excluded, ElementsAre("b"));
  EXPECT_FALSE(record.complete);
  EXPECT_EQ(exit_code_of(record), 4);
  EXPECT_EQ(headline(file()), headline(record));
}

TEST_F(AcceptanceJournal, OtherFailuresAreOfTheRun) {
  const Record record =
      journal_.end({.failure = 4, .errors = {"rank 0/2 on a: the library failed"}});
  EXPECT_EQ(record.reason, "ENDED_EARLY");
  EXPECT_TRUE(record.excluded.empty());
}

TEST_F(AcceptanceJournal, AfterAWaitBetweenHostsTheNextStepIsThePacketsSize) {
  Record record = journal_.end({.failure = 4, .errors = {"rank 0: recv: Connection timed out"}});
  EXPECT_THAT(next_step(record).what, HasSubstr("ping -M do -s 8972 HOST"));
  record.hosts.pop_back();
  EXPECT_THAT(next_step(record).what, testing::StartsWith("continue with --resume FILE"));
}

TEST_F(AcceptanceJournal, EachHostOfRanksThatAreGoneIsNamedOnce) {
  Record of_four = header();
  of_four.hosts = {{"a", {0, 1}, {}}, {"b", {2, 3}, {}}, {"c", {4, 5}, {}}};
  journal_.begin(of_four);
  // The same ranks, of two failures.
  const Record record =
      journal_.end({.failure = 5, .errors = {"x", "y"}, .gone = {5, 2, 3, 2}, .late = {0}});
  EXPECT_THAT(record.excluded, ElementsAre("b", "c"));
  ASSERT_EQ(record.checks.size(), 2U);
  EXPECT_EQ(record.checks[0].reason, "HOST_LOST");
  EXPECT_EQ(record.checks[0].id, "run/lost/b");
}

TEST_F(AcceptanceJournal, ARankThatIsLostBeforeItsHostIsKnownIsNoHostsName) {
  journal_.begin({.plan = "p"});
  const Record record = journal_.end({.failure = 4, .errors = {"rank 1 is gone"}, .gone = {1}});
  ASSERT_EQ(record.checks.size(), 1U);
  EXPECT_EQ(record.checks[0].subject, "run");
  EXPECT_EQ(record.checks[0].reason, "HOST_LOST");
  EXPECT_EQ(exit_code_of(record), 4);
}

TEST_F(AcceptanceJournal, AHostThatIsLostBeforeRanksKnowEachOtherIsNamed) {
  journal_.begin({.plan = "p"});
  const Record record = journal_.end({.failure = 4,
                                      .errors = {"whatever the words are"},
                                      .gone = {1, 2, 3},
                                      .gone_hosts = {"node7", "node2", "node7"}});
  ASSERT_EQ(record.checks.size(), 2U);
  EXPECT_EQ(record.checks[0].subject, "host node2");
  EXPECT_EQ(record.checks[1].subject, "host node7");
  EXPECT_EQ(record.checks[1].reason, "HOST_LOST");
  EXPECT_THAT(record.excluded, testing::ElementsAre("node2", "node7"));
}

TEST_F(AcceptanceJournal, AWaitThatReachedItsLimitNamesTheLateRanks) {
  const Record record = journal_.end({.failure = 5, .errors = {"too long"}, .late = {1}});
  ASSERT_EQ(record.checks.size(), 1U);
  EXPECT_EQ(record.checks[0].reason, "TIMED_OUT");
  EXPECT_EQ(record.checks[0].text, "timed out: others wait for rank 1; too long");
  EXPECT_TRUE(record.excluded.empty());
}

TEST_F(AcceptanceJournal, WhoInterruptsItBlamesNobody) {
  journal_.begin_stage("full", "");
  const Record record =
      journal_.end({.failure = 130, .errors = {"rank 0 on a: interrupted by signal 2 (SIGINT)"}});
  EXPECT_EQ(record.verdict, Verdict::inconclusive);
  EXPECT_EQ(record.reason, "INTERRUPTED");
  EXPECT_EQ(record.stages[0].verdict, Verdict::inconclusive);
  EXPECT_TRUE(record.excluded.empty());
}

TEST_F(AcceptanceJournal, ExitCodesAreThoseOfTheWorst) {
  Record record = header();
  record.verdict = Verdict::fail;
  record.checks = {check(Verdict::fail, "SLOW_HOST")};
  EXPECT_EQ(exit_code_of(record), 6);
  record.checks.push_back(check(Verdict::fail, "WRONG_WIRE"));
  EXPECT_EQ(exit_code_of(record), 4);
  record.checks.push_back(check(Verdict::fail, "WRONG_DATA"));
  EXPECT_EQ(exit_code_of(record), 7);
}

TEST_F(AcceptanceJournal, ResumingTakesStagesThatHaveEnded) {
  journal_.begin_stage("hosts", "");
  journal_.add(check(Verdict::pass, "OK"));
  journal_.end_stage();
  journal_.begin_stage("rails", "");
  journal_.add(PairMatrix{.bytes = 8, .rail = 1});
  journal_.end_stage();
  journal_.begin_stage("pairs", "");
  journal_.add(check(Verdict::pass, "OK"));
  journal_.add(PairMatrix{.bytes = 8});
  Record before = journal_.end({.failure = 130, .errors = {"interrupted"}});
  Journal next("", [](const std::string&) {});
  next.begin(header());
  next.resume(before);
  EXPECT_TRUE(next.has("hosts"));
  EXPECT_FALSE(next.has("pairs"));
  EXPECT_EQ(next.record().checks.size(), 1U);
  before.checks.push_back(check(Verdict::fail, "WRONG_DATA"));
  before.checks.back().stage = "pairs";
  next.begin(header());
  next.resume(before);
  next.complete();
  EXPECT_EQ(exit_code_of(next.record()), 7) << "wrong data are forgotten";
  before.checks.pop_back();
  next.begin(header());
  next.resume(before);
  ASSERT_EQ(next.record().pairs.size(), 1U);
  EXPECT_EQ(next.record().pairs[0].rail, 1U);
}

// The two confirmations of pairs have to be apart in time again.
TEST_F(AcceptanceJournal, ResumingMakesWhatLiesBetweenConfirmationsAgain) {
  journal_.begin_stage("hosts", "");
  journal_.end_stage();
  journal_.begin_stage("pairs", "");
  journal_.begin_stage("full", "");
  journal_.end_stage();
  const Record before = journal_.end({.failure = 130, .errors = {"interrupted"}});
  Journal next("", [](const std::string&) {});
  next.begin(header());
  next.resume(before);
  EXPECT_TRUE(next.has("hosts"));
  EXPECT_FALSE(next.has("full"));
}

TEST_F(AcceptanceJournal, WhoItIsComesFirst) {
  journal_.begin_stage("full", "");
  journal_.add(check(Verdict::fail, "TOO_SLOW"));
  journal_.add(check(Verdict::fail, "SLOW_HOST", "host b"));
  EXPECT_EQ(journal_.record().reason, "SLOW_HOST");
  EXPECT_THAT(headline(journal_.record()), testing::StartsWith("FAIL b: "));
}

TEST_F(AcceptanceJournal, ResumingAnotherRunIsRefused) {
  const auto refused = [&](const std::function<void(Record&)>& change) {
    Record before = header();
    change(before);
    EXPECT_THROW(journal_.resume(before), UsageError);
  };
  refused([](Record& r) { r.plan = "q"; });
  refused([](Record& r) { r.plan_digest = "0123456789abcdef"; });
  refused([](Record& r) { r.library = "0.6"; });
  refused([](Record& r) { r.hosts.pop_back(); });
  refused([](Record& r) { r.hosts[1].ranks = {1, 2}; });
  EXPECT_NO_THROW(journal_.resume(header()));
}

TEST_F(AcceptanceJournal, AFileThatCannotBeWrittenIsAnError) {
  Journal nowhere(folder_.file("none/v.json"), [](const std::string&) {});
  nowhere.begin(header());
  EXPECT_THROW(nowhere.begin_stage("hosts", ""), Error);
  EXPECT_EQ(nowhere.end({.failure = 4, .errors = {"it cannot be written"}}).verdict, Verdict::fail);
  EXPECT_THAT(nowhere.write_error(), HasSubstr("none/v.json"));
}

// A row of 1 MiB at 100 GB/s, from 90 to 112.5.
Row row() {
  Row row;
  row.bytes = 1 << 20;
  Measurement& cell = row.out_of_place;
  cell.seconds = 1e-5;
  cell.busbw = 100;
  cell.stream.emplace();
  cell.stream->low = 1e-5 / 1.125;
  cell.stream->high = 1e-5 / 0.9;
  row.in_place.repeats_out_of_place = true;
  return row;
}
Check check_of_row(double min, double warn, double most_s = 0) {
  Plan plan;
  plan.limits = {{"full", "all_reduce", 0, min, warn, most_s}};
  return row_check(plan, "full", "run", "all_reduce", 1 << 20, row());
}

TEST(AcceptanceRates, AllOfTheIntervalDecides) {
  EXPECT_EQ(check_of_row(80e9, 0).verdict, Verdict::pass);
  EXPECT_EQ(check_of_row(120e9, 0).reason, "TOO_SLOW");
  EXPECT_EQ(check_of_row(120e9, 0).verdict, Verdict::fail);
  EXPECT_EQ(check_of_row(120e9, 0).text, "all_reduce 1M 100 of 120 GB/s");
  EXPECT_EQ(check_of_row(95e9, 0).verdict, Verdict::inconclusive);
  EXPECT_EQ(check_of_row(95e9, 0).reason, "TOO_NOISY");
  EXPECT_EQ(check_of_row(80e9, 120e9).verdict, Verdict::warn);
  EXPECT_EQ(check_of_row(80e9, 85e9).verdict, Verdict::pass);
  EXPECT_EQ(check_of_row(0, 0, 1e-3).verdict, Verdict::pass);
  EXPECT_EQ(check_of_row(0, 0, 5e-6).verdict, Verdict::fail);
  EXPECT_EQ(check_of_row(0, 0, 1e-5).verdict, Verdict::inconclusive);
}

TEST(AcceptanceRates, ReachedAndLimitHaveTheirUnits) {
  const auto text = [](double gb_per_s, double limit) {
    Row slow = row();
    slow.out_of_place.busbw = gb_per_s;
    Plan plan;
    plan.limits = {{"full", "all_reduce", 0, limit, 0, 0}};
    return row_check(plan, "full", "run", "all_reduce", 1 << 20, slow).text;
  };
  EXPECT_EQ(text(0.1, 125e6), "all_reduce 1M 100 of 125 MB/s");
  EXPECT_EQ(text(1e-6, 900e9), "all_reduce 1M 1 kB/s of 900 GB/s");
}

TEST(AcceptanceRates, LimitsAreOfAStageProgramAndSize) {
  Plan plan;
  plan.limits = {{"full", "all_reduce", 0, 1, 0, 0}, {"full", "all_reduce", 8, 2, 0, 0}};
  EXPECT_EQ(limit_of(plan, "full", "all_reduce", 8)->min_busbw, 2);
  EXPECT_EQ(limit_of(plan, "full", "all_reduce", 16)->min_busbw, 1);
  EXPECT_EQ(limit_of(plan, "node", "all_reduce", 8), nullptr);
  EXPECT_EQ(limit_of(plan, "full", "alltoall", 8), nullptr);
  EXPECT_EQ(row_check(plan, "full", "run", "alltoall", 8, row()).verdict, Verdict::skipped);
}

TEST(AcceptanceRates, WrongDataAndNoTimeAreNoSuccess) {
  Plan plan;
  Row wrong = row();
  wrong.out_of_place.mismatches = {{1, "b", {}, {}, 3, 0, 2, "found 0"}};
  EXPECT_EQ(row_check(plan, "full", "run", "all_reduce", 8, wrong).reason, "WRONG_DATA");
  EXPECT_EQ(row_check(plan, "full", "run", "all_reduce", 8, Row()).verdict, Verdict::inconclusive);
}

}  // namespace
}  // namespace ccl_tests::acceptance
