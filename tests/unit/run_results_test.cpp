// What a run's rows add up to, and who hears of it.
#include <sys/resource.h>

#include <csignal>
#include <future>
#include <thread>

#include "src/core/error.hpp"
#include "tests/unit/spy_reporter.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

using test::missed;
using test::RunResultsTest;
using test::Seen;
using test::SpyReporter;
using test::undecided;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(RunResultsTest, SumsUp) {
  reporter().row(row(1, 1e-3), 1024);
  reporter().row(row(4, 1e-3), 2048);
  EXPECT_EQ(reporter().finish(0, {}), 0);
  EXPECT_EQ(seen.begun, 1);
  EXPECT_EQ(seen.rows, 2);
  EXPECT_EQ(seen.before, 4);
  EXPECT_EQ(seen.summary.average_busbw, 2.5);
  EXPECT_EQ(seen.summary.calls, 84U);
  EXPECT_EQ(seen.summary.verified_calls, 40U);
  EXPECT_EQ(seen.summary.failed_checks, 0U);
  EXPECT_TRUE(seen.summary.complete);
  EXPECT_EQ(seen.summary.verdict, Verdict::ok);
  EXPECT_EQ(seen.summary.rows, 2U);
  EXPECT_EQ(seen.summary.failure, "");
  EXPECT_FALSE(seen.summary.bandwidth_ok);
  EXPECT_TRUE(seen.summary.notes.empty());
}

TEST_F(RunResultsTest, APlacementThatWasLeftOutCountsNowhere) {
  options.limits.min_busbw = {{1024, 3}};
  options.limits.max_time = {{1024, 2000}};
  for (Measurement Row::*const left_out : {&Row::out_of_place, &Row::in_place}) {
    RunResults results(options);
    results.add(std::make_unique<SpyReporter>(seen));
    results.begin({});
    Row one = row(4, 1e-3);
    one.*left_out = Measurement();
    (one.*left_out).left_out = true;
    results.row(one, 1024);
    EXPECT_EQ(results.finish(0, {}), 0);
    EXPECT_EQ(seen.summary.average_busbw, 4);
    EXPECT_EQ(seen.summary.limits.size(), 2U);
    EXPECT_FALSE((seen.all.back().*left_out).limit);
    EXPECT_TRUE(seen.summary.notes.empty());  // no row was capped
    EXPECT_EQ(one.first_measured().busbw, 4);
  }
}

TEST_F(RunResultsTest, JudgesTheRowsThatStandForAllPasses) {
  options.sweep.passes = 3;
  options.limits.max_time = {{1024, 2500}};
  int pass = 0;
  for (const double ms : {1.0, 4.0, 2.0}) {
    Row one = row(1, ms * 1e-3);
    one.pass = ++pass;
    reporter().row(one, 1024, {0, 0});
  }
  EXPECT_EQ(reporter().finish(0, {}), 0);
  ASSERT_EQ(seen.rows, 4);
  EXPECT_EQ(seen.all[1].pass, 2);
  EXPECT_FALSE(seen.all[3].pass);
  EXPECT_EQ(seen.all[3].passes, 3);
  EXPECT_EQ(seen.all[3].out_of_place.seconds, 2e-3);
  EXPECT_EQ(seen.summary.rows, 1U);
  EXPECT_EQ(seen.summary.calls, 2 * 3 * 21U);
  EXPECT_TRUE(missed(seen.summary).empty());
  EXPECT_TRUE(seen.summary.notes.empty());
}

// However many operations were spoiled: what nobody sees shows nothing.
TEST_F(RunResultsTest, DoesNotPassARunWhoseFaultNobodySees) {
  for (const bool wrong : {false, true})
    for (const bool inject : {false, true}) {
      RunResults judge(options);
      judge.add(std::make_unique<SpyReporter>(seen));
      judge.begin({});
      Row one = row(1, 1e-3);
      one.out_of_place.wrong = one.out_of_place.failed_ranks = wrong ? 1 : 0;
      judge.row(one, 1024);
      judge.after_rows({.spoiled = inject ? "how many were spoiled" : ""});
      const bool undecided = inject && !wrong;
      const int code = wrong ? 7 : undecided ? 8 : 0;
      EXPECT_EQ(judge.verdict(), code);
      EXPECT_EQ(judge.finish(0, {}), code);
      EXPECT_EQ(seen.summary.verdict, wrong       ? Verdict::wrong
                                      : undecided ? Verdict::unreliable
                                                  : Verdict::ok);
      EXPECT_THAT(seen.summary.notes, Contains("how many were spoiled").Times(inject ? 1 : 0));
      EXPECT_EQ(judge.reasons().size(), undecided ? 1U : 0U);
    }
}

TEST_F(RunResultsTest, DoesNotPassARunWhoseBytesLeftByAnotherInterface) {
  for (const bool wrong_wire : {false, true}) {
    RunResults judge(options);
    judge.add(std::make_unique<SpyReporter>(seen));
    judge.begin({});
    judge.row(row(1, 1e-3), 1024);
    judge.after_rows({.wire = "interface: by eth0", .wrong_wire = wrong_wire});
    EXPECT_EQ(judge.finish(0, {}), wrong_wire ? 8 : 0);
    EXPECT_EQ(seen.summary.verdict, wrong_wire ? Verdict::unreliable : Verdict::ok);
    EXPECT_THAT(seen.summary.notes, Contains("interface: by eth0"));
    EXPECT_EQ(judge.reasons().size(), wrong_wire ? 1U : 0U);
  }
}

TEST_F(RunResultsTest, WritesWhatThereIsOfThePassesWhenARunEndsEarly) {
  options.sweep.passes = 3;
  for (const std::size_t place : {1U, 0U, 2U, 0U}) {
    Row one = row(1, 1e-3 * static_cast<double>(place + 1));
    one.pass = seen.rows < 3 ? 1 : 2;
    one.out_of_place.wrong = one.out_of_place.failed_ranks = place == 2 ? 1 : 0;
    reporter().row(one, 1024 << place, {place, 0});
  }
  EXPECT_EQ(seen.rows, 4);
  EXPECT_EQ(reporter().finish(4, {"rank 3 is gone"}), exit_code(Exit::wrong_data));
  ASSERT_EQ(seen.rows, 7);
  for (std::size_t place = 0; place < 3; ++place) {
    const Row& all = seen.all[4 + place];
    EXPECT_FALSE(all.pass);
    EXPECT_EQ(all.passes, place == 0 ? 2 : 1);
    EXPECT_DOUBLE_EQ(all.in_place.seconds, 1e-3 * static_cast<double>(place + 1));
  }
  EXPECT_EQ(seen.summary.rows, 3U);
  EXPECT_EQ(seen.summary.wrong_rows, 1U);
  EXPECT_THAT(seen.summary.notes, Contains("3 rows of fewer than 3 passes"));
}

TEST_F(RunResultsTest, FinishesOnce) {
  reporter().row(row(1, 1e-3), 1024);
  EXPECT_EQ(reporter().finish(5, {"rank 3 is gone"}), 5);
  EXPECT_EQ(reporter().finish(0, {}), 5);
  reporter().row(row(1, 1e-3), 2048);
  reporter().begin({});
  EXPECT_EQ(seen.ended, 1);
  EXPECT_EQ(seen.rows, 1);
  EXPECT_EQ(seen.begun, 1);
  EXPECT_FALSE(seen.summary.complete);
  EXPECT_EQ(seen.summary.errors, std::vector<std::string>{"rank 3 is gone"});
  EXPECT_EQ(seen.summary.verdict, Verdict::incomplete);
}

// mpirun stops reading a rank's stdout when it ends a job.

class Stuck : public Reporter {
 public:
  Stuck(std::promise<void>& stuck, std::shared_future<void> read)
      : stuck_(stuck), read_(std::move(read)) {}
  void begin(const RunInfo& /*run*/) override {}
  void row(const Row& /*row*/) override {
    stuck_.set_value();
    read_.wait();
  }
  void end(const RunSummary& /*summary*/) override { ADD_FAILURE() << "in the middle of a row"; }

 private:
  std::promise<void>& stuck_;
  std::shared_future<void> read_;
};

TEST(RunResults, FilesHaveTheirEndIfNobodyReadsStdout) {
  struct File : Reporter {
    explicit File(std::string& what) : log(what) {}
    std::string path() const override { return "run.jsonl"; }
    void begin(const RunInfo& /*run*/) override { log += "begin "; }
    void row(const Row& /*row*/) override { log += "row "; }
    void end(const RunSummary& summary) override { log += std::to_string(summary.exit_code); }
    std::string& log;
  };
  std::promise<void> stuck;
  std::promise<void> read;
  std::string file;
  RunResults results({});
  results.add(std::make_unique<Stuck>(stuck, read.get_future().share()));
  results.add(std::make_unique<File>(file));
  results.begin({});
  std::thread rank([&] { results.row(Row(), 8); });
  stuck.get_future().wait();
  EXPECT_EQ(results.finish(130, {"interrupted"}), 130);
  EXPECT_EQ(file, "begin row 130");
  EXPECT_THAT(results.unwritten(),
              testing::ElementsAre(testing::HasSubstr("stdout takes no more")));
  read.set_value();
  rank.join();
}

// Its end cannot be written, which is known at the end alone.
class FullDisk : public Reporter {
 public:
  std::string path() const override { return "full.prom"; }
  bool is_written_at_end() const override { return true; }
  void begin(const RunInfo& /*run*/) override {}
  void row(const Row& /*row*/) override {}
  void end(const RunSummary& /*summary*/) override { throw Error("full.prom: no space"); }
};

TEST_F(RunResultsTest, EveryEndSaysWhatCouldNotBeWritten) {
  RunResults results(options);
  results.add(std::make_unique<SpyReporter>(seen));
  results.add(std::make_unique<FullDisk>());
  results.begin({});
  results.row(row(1, 1e-3), 8);
  EXPECT_EQ(results.finish(0, {}), exit_code(Exit::failed));
  EXPECT_EQ(seen.summary.exit_code, exit_code(Exit::failed));
  EXPECT_EQ(seen.summary.verdict, Verdict::incomplete);
  EXPECT_EQ(seen.summary.failure, "full.prom: no space");
  EXPECT_THAT(seen.summary.errors, ElementsAre("full.prom: no space"));
}

TEST_F(RunResultsTest, DigestsThatAreLostFailTheRun) {
  const TemporaryFolder folder;
  options.check.digests = folder.file("digests");
  RunResults results(options);
  results.add(std::make_unique<SpyReporter>(seen));
  results.read_earlier_runs();
  results.begin({});
  results.row(row(1, 1e-3), 8);
  std::filesystem::remove(folder.file("digests"));
  EXPECT_EQ(results.finish(0, {}), exit_code(Exit::failed));
  EXPECT_THAT(seen.summary.failure, HasSubstr("--digests: cannot write"));
  EXPECT_THAT(results.unwritten(), ElementsAre(seen.summary.failure));
}

class FullFromTheFirstRow : public Reporter {
 public:
  void begin(const RunInfo& /*run*/) override {}
  void row(const Row& /*row*/) override { throw Error("full.jsonl: no space"); }
  void end(const RunSummary& /*summary*/) override {}
};

TEST_F(RunResultsTest, ARowThatOneFileCannotTakeIsInAllOthers) {
  RunResults results(options);
  results.add(std::make_unique<FullFromTheFirstRow>());
  results.add(std::make_unique<SpyReporter>(seen));
  results.begin({});
  EXPECT_THROW(results.row(row(1, 1e-3), 8), Error);
  EXPECT_EQ(seen.rows, 1);
}

TEST_F(RunResultsTest, SoIsTheRowThatStandsForAllPasses) {
  options.sweep.passes = 1;
  RunResults results(options);
  results.add(std::make_unique<FullFromTheFirstRow>());
  results.add(std::make_unique<SpyReporter>(seen));
  results.begin({});
  Row last = row(1, 1e-3);
  last.pass = 1;
  EXPECT_THROW(results.row(last, 8, {0, 0}), Error);
  ASSERT_EQ(seen.rows, 2);
  EXPECT_FALSE(seen.all[1].pass);
}

TEST_F(RunResultsTest, ARowOfFewerPassesHasTheVerdictOfItsLimits) {
  options.sweep.passes = 2;
  options.limits.max_time = {{8, 1}};  // us
  Row first = row(1, 1e-3);
  first.pass = 1;
  reporter().row(first, 8, {0, 0});
  EXPECT_NE(reporter().finish(exit_code(Exit::failed), {"rank 1 died"}), 0);
  ASSERT_EQ(seen.rows, 2);
  EXPECT_FALSE(seen.all[0].out_of_place.limit);
  EXPECT_FALSE(seen.all[1].pass);
  EXPECT_EQ(seen.all[1].out_of_place.limit, LimitVerdict::missed);
}

TEST_F(RunResultsTest, ARowWhoseDigestCannotBeWrittenIsNotLost) {
  const TemporaryFolder folder;
  options.check.digests = folder.file("digests");
  RunResults results(options);
  results.add(std::make_unique<SpyReporter>(seen));
  results.read_earlier_runs();
  results.begin({});
  Row stable = row(1, 1e-3);
  stable.reproduction.emplace();
  stable.reproduction->digest = "0123456789abcdef";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  EXPECT_THROW(results.row(stable, 8), Error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(seen.rows, 1);
}

TEST_F(RunResultsTest, ACallThatNoRowIsOfIsCountedAndNamed) {
  Row first = row(1, 1e-3);
  first.in_place = {};
  first.out_of_place.calls = first.out_of_place.verified_calls = 1;
  first.out_of_place.wrong = 3;
  first.out_of_place.failed_ranks = 1;
  first.out_of_place.mismatches = {{2, "b", {}, {}, 3, 7, 9, "expected 1, found 2"}};
  reporter().first_call(first, 1024);
  reporter().row(row(1, 1e-3), 1024);
  EXPECT_EQ(reporter().finish(0, {}), exit_code(Exit::wrong_data));
  EXPECT_EQ(seen.rows, 1);
  EXPECT_EQ(seen.summary.rows, 1U);
  EXPECT_EQ(seen.summary.wrong_rows, 0U);
  EXPECT_EQ(seen.summary.calls, 43U);
  EXPECT_EQ(seen.summary.wrong_elements, 3U);
  EXPECT_EQ(seen.summary.verdict, Verdict::wrong);
  EXPECT_THAT(seen.summary.first_wrong, HasSubstr("in the job's first calls, element 7"));
}

TEST_F(RunResultsTest, ARowSaysOnHowManyHostsItsRanksAre) {
  RunResults multi(options);
  multi.add(std::make_unique<SpyReporter>(seen));
  RunInfo run;
  const char* const hosts[] = {"a", "a", "b", "c"};
  for (int rank = 0; rank < 4; ++rank)
    run.rank_lines.push_back({rank, rank / 2, 1, hosts[rank], 0, "CPU"});
  multi.begin(run);
  multi.row(row(1, 1), 8);
  Row part = row(1, 1);
  for (const int group : {0, 1}) {
    part.group = group;
    multi.row(part, 8);
  }
  part.group.reset();
  for (const RankPair& pair : {RankPair(1, 0), RankPair(1, 2)}) {
    part.pair = pair;
    multi.row(part, 8);
  }
  EXPECT_EQ(seen.hosts, (std::vector<int>{3, 1, 2, 1, 2}));
}

TEST_F(RunResultsTest, ReportersHearOfTheFilesOfAll) {
  reporter();
  EXPECT_EQ(seen.output_files, (std::vector<std::string>{"x.json"}));
}

TEST_F(RunResultsTest, SaysWhatARowCouldNotShowAndWhereItWasCapped) {
  Row weak = row(1, 1e-3);
  weak.coverage = 0.25;
  weak.in_place.iterations = 3;
  reporter().row(weak, 1024);
  reporter().row(row(1, 1e-3), 2048);
  EXPECT_EQ(reporter().finish(0, {}), 0);
  EXPECT_THAT(seen.summary.notes, Contains(HasSubstr("rows up to 1000 B")));
  EXPECT_THAT(seen.summary.notes, Contains(HasSubstr("covers 25.0 %")));
  EXPECT_THAT(seen.summary.notes, Contains(HasSubstr("1 row ran fewer than 20 iterations")));
}

TEST_F(RunResultsTest, NotesAreLimitedInNumber) {
  Row bad = row(1, 1e-3);
  bad.out_of_place.mismatches = {{2, "b", {}, {}, 1, 0, 0, "expected 1, found 2"}};
  for (int i = 0; i < 1000; ++i) reporter().row(bad, 1024);
  reporter().finish(0, {});
  EXPECT_EQ(seen.summary.notes.size(), 100U);
}

TEST(RunResults, ThatNeverBeganEndsItsReportersWithTheFailure) {
  const Options options;
  Seen seen;
  RunResults reporter(options);
  reporter.add(std::make_unique<SpyReporter>(seen));
  EXPECT_EQ(reporter.finish(3, {"no such backend"}), 3);
  EXPECT_EQ(seen.begun, 0);
  EXPECT_EQ(seen.ended, 1);
  EXPECT_EQ(seen.summary.failure, "no such backend");
  EXPECT_FALSE(seen.summary.complete);
}

class SpeedTest : public RunResultsTest {
 protected:
  // Returns what the footer says of these probes before the first and after the last row.
  std::vector<std::string> notes(std::optional<double> before, std::optional<double> after,
                                 bool verbose = false) {
    Seen ended;
    RunResults reporter(options);
    reporter.add(std::make_unique<SpyReporter>(ended));
    RunInfo run;
    run.core_to_core = before;
    run.options.output.verbose = verbose;
    reporter.begin(run);
    reporter.after_rows({.core_to_core = after});
    reporter.finish(0, {});
    EXPECT_EQ(ended.summary.core_to_core, after);
    return ended.summary.notes;
  }
};

TEST_F(SpeedTest, IsInTheFooterIfItChanged) {
  const std::string text =
      "core to core: a round trip took 100 ns before the first row and 160 ns after the last";
  EXPECT_THAT(notes(100e-9, 160e-9),
              testing::ElementsAre("the machine changed its speed during the run; " + text));
  EXPECT_THAT(notes(160e-9, 100e-9), testing::SizeIs(1));
  EXPECT_THAT(notes(100e-9, 140e-9), testing::IsEmpty());
  EXPECT_THAT(notes(100e-9, 140e-9, true), testing::SizeIs(1));
  EXPECT_THAT(notes(std::nullopt, 140e-9, true), testing::IsEmpty());
  EXPECT_THAT(notes(100e-9, std::nullopt), testing::IsEmpty());
}

}  // namespace
}  // namespace ccl_tests
