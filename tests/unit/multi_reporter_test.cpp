// What a run's rows add up to, and which exit code they give.
#include "src/report/multi_reporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

using testing::Contains;
using testing::HasSubstr;

struct Seen {
  int begun = 0, rows = 0, ended = 0, before = 0;
  std::vector<Row> all;
  RunSummary summary;
  std::vector<std::string> output_files;
  std::vector<int> hosts;  // of each row
};

class SpyReporter : public Reporter {
 public:
  explicit SpyReporter(Seen& seen) : seen_(seen) {}
  std::string path() const override { return "x.json"; }
  void begin(const RunInfo& run) override {
    ++seen_.begun;
    seen_.output_files = run.output_files;
  }
  void row(const Row& row) override {
    ++seen_.rows;
    seen_.all.push_back(row);
    seen_.hosts.push_back(row.hosts.value_or(0));
  }
  void end(const RunSummary& summary) override {
    ++seen_.ended;
    seen_.summary = summary;
  }

 private:
  Seen& seen_;
};

class RecorderTest : public testing::Test {
 protected:
  MultiReporter& recorder() {
    if (!recorder_) {
      recorder_ = std::make_unique<MultiReporter>(options);
      recorder_->add(std::make_unique<SpyReporter>(seen));
      recorder_->before_print([this] { ++seen.before; });
      recorder_->begin({});
    }
    return *recorder_;
  }

  static Row row(double busbw, double seconds) {
    Row row;
    row.bytes = 1000;
    row.op = ReduceOp::sum;
    for (Measurement* cell : {&row.out_of_place, &row.in_place}) {
      cell->busbw = busbw;
      cell->seconds = seconds;
      cell->iterations = 20;
      cell->calls = 21;
      cell->verified_calls = 10;
      cell->wrong = 0;
    }
    return row;
  }

  Options options;
  Seen seen;

 private:
  std::unique_ptr<MultiReporter> recorder_;
};

TEST_F(RecorderTest, SumsUp) {
  recorder().row(row(1, 1e-3), 1024);
  recorder().row(row(4, 1e-3), 2048);
  EXPECT_EQ(recorder().finish(0, {}), 0);
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

TEST_F(RecorderTest, JudgesTheRowsThatStandForAllPasses) {
  options.sweep.passes = 3;
  options.limits.max_time = {{1024, 2500}};
  int pass = 0;
  for (const double ms : {1.0, 4.0, 2.0}) {
    Row one = row(1, ms * 1e-3);
    one.pass = ++pass;
    recorder().pass_row(one, 1024, {0, 0});
  }
  EXPECT_EQ(recorder().finish(0, {}), 0);
  ASSERT_EQ(seen.rows, 4);
  EXPECT_EQ(seen.all[1].pass, 2);
  EXPECT_FALSE(seen.all[3].pass);
  EXPECT_EQ(seen.all[3].passes, 3);
  EXPECT_EQ(seen.all[3].out_of_place.seconds, 2e-3);
  EXPECT_EQ(seen.summary.rows, 1U);
  EXPECT_EQ(seen.summary.calls, 2 * 3 * 21U);
  EXPECT_TRUE(seen.summary.missed_limits.empty());
  EXPECT_TRUE(seen.summary.notes.empty());
}

TEST_F(RecorderTest, WritesWhatThereIsOfThePassesWhenARunEndsEarly) {
  options.sweep.passes = 3;
  for (const std::size_t place : {1U, 0U, 2U, 0U}) {
    Row one = row(1, 1e-3 * static_cast<double>(place + 1));
    one.pass = seen.rows < 3 ? 1 : 2;
    one.out_of_place.wrong = one.out_of_place.failed_ranks = place == 2 ? 1 : 0;
    recorder().pass_row(one, 1024 << place, {place, 0});
  }
  EXPECT_EQ(seen.rows, 4);
  EXPECT_EQ(recorder().finish(4, {"rank 3 is gone"}), exit_code(Exit::wrong_data));
  ASSERT_EQ(seen.rows, 7);
  for (std::size_t place = 0; place < 3; ++place) {
    const Row& all = seen.all[4 + place];
    EXPECT_FALSE(all.pass);
    EXPECT_EQ(all.passes, place == 0 ? 2 : 1);
    EXPECT_DOUBLE_EQ(all.in_place.seconds, 1e-3 * static_cast<double>(place + 1));
  }
  EXPECT_EQ(seen.summary.rows, 3U);
  EXPECT_EQ(seen.summary.wrong_rows, 1U);
  EXPECT_THAT(seen.summary.notes, Contains("3 rows are of fewer than 3 passes"));
}

TEST_F(RecorderTest, FinishesOnce) {
  recorder().row(row(1, 1e-3), 1024);
  EXPECT_EQ(recorder().finish(5, {"rank 3 is gone"}), 5);
  EXPECT_EQ(recorder().finish(0, {}), 5);
  recorder().row(row(1, 1e-3), 2048);
  recorder().begin({});
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

TEST(MultiReporter, FilesHaveTheirEndIfNobodyReadsStdout) {
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
  MultiReporter results({});
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

TEST_F(RecorderTest, WrongDataIs7AndSaysWhereItIsAndHowToSeeItAgain) {
  Row bad = row(1, 1e-3);
  bad.root = 2;
  bad.in_place.wrong = 12;
  bad.in_place.failed_ranks = 2;
  bad.in_place.mismatches = {{2, "b", {}, {}, 9, 4096, 4104, "expected 0x1, found poison"},
                             {3, "c", 1, 0, 3, 0, 2, "expected 0x1, found 0x2"}};
  options.check.seed = 5;
  recorder().row(row(1, 1e-3), 512);
  recorder().row(bad, 1024);
  EXPECT_EQ(recorder().finish(0, {}), 7);
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

TEST_F(RecorderTest, TheFailureSaysWhatCameFirstAndWhatWasDone) {
  recorder().activity([] { return std::string("all_reduce float sum, 8 B, timed calls"); });
  recorder().finish(4, {"rank 0/3 on a: connection closed", "first: rank 1 on b is gone"});
  EXPECT_EQ(seen.summary.failure,
            "rank 1 on b is gone during all_reduce float sum, 8 B, timed calls");
}

TEST_F(RecorderTest, TheFailureSaysOnceWhatWasDone) {
  recorder().activity([] { return std::string("timed calls"); });
  recorder().finish(5, {"rank 0/3 on a: timed calls: timed out"});
  EXPECT_EQ(seen.summary.failure, "rank 0/3 on a: timed calls: timed out");
}

TEST_F(RecorderTest, ARowSaysOnHowManyHostsItsRanksAre) {
  MultiReporter multi(options);
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

TEST_F(RecorderTest, ReportersHearOfTheFilesOfAll) {
  recorder();
  EXPECT_EQ(seen.output_files, (std::vector<std::string>{"x.json"}));
}

TEST_F(RecorderTest, WrongDataOutweighsAFailedPeerButNotAnInterrupt) {
  Row bad = row(1, 1e-3);
  bad.out_of_place.failed_ranks = 1;
  recorder().row(bad, 1024);
  EXPECT_EQ(recorder().finish(4, {"x"}), 7);
}

TEST_F(RecorderTest, AnInterruptIsItsSignal) {
  Row bad = row(1, 1e-3);
  bad.out_of_place.failed_ranks = 1;
  recorder().row(bad, 1024);
  EXPECT_EQ(recorder().finish(130, {"interrupted"}), 130);
}

TEST_F(RecorderTest, LimitsHoldForTheRequestedSizeAndBothHalves) {
  options.limits.min_busbw = {{1024, 2.0}};
  options.limits.max_time = {{1024, 500}};
  recorder().row(row(2.0, 500e-6), 1024);
  recorder().row(row(0.1, 1), 2048);
  EXPECT_EQ(recorder().finish(0, {}), 0);
}

TEST_F(RecorderTest, TooLittleBandwidthIs6) {
  options.limits.min_busbw = {{1024, 2.0}};
  Row slow = row(2.5, 1e-6);
  slow.in_place.busbw = 1.99;
  recorder().row(slow, 1024);
  EXPECT_EQ(recorder().finish(0, {}), 6);
  ASSERT_EQ(seen.summary.missed_limits.size(), 1U);
  EXPECT_THAT(seen.summary.missed_limits[0], HasSubstr("1024 B float sum in place: busbw 1.9900"));
  EXPECT_EQ(seen.summary.verdict, Verdict::slow);
}

TEST_F(RecorderTest, TooMuchTimeIs6) {
  options.limits.max_time = {{1024, 500}};
  Row slow = row(1, 400e-6);
  slow.out_of_place.seconds = 501e-6;
  recorder().row(slow, 1024);
  EXPECT_EQ(recorder().finish(0, {}), 6);
  EXPECT_THAT(seen.summary.missed_limits, Contains(HasSubstr("out of place: 501.00 us is above")));
}

TEST_F(RecorderTest, ALimitWhoseSizeWasNotMeasuredIsMissed) {
  options.limits.min_busbw = {{4096, 0}};
  recorder().row(row(1, 1e-3), 1024);
  EXPECT_EQ(recorder().finish(0, {}), 6);
  EXPECT_THAT(seen.summary.missed_limits,
              Contains(HasSubstr("not measured: 4096 B, which --min-busbw")));
}

TEST_F(RecorderTest, MinimumAverageHasNcclTestsSlack) {
  options.limits.min_average_busbw = 10;
  recorder().row(row(9.0, 1e-3), 1024);
  EXPECT_EQ(recorder().finish(0, {}), 0);
  EXPECT_EQ(seen.summary.bandwidth_ok, true);
}

TEST_F(RecorderTest, BelowTheSlackIs6) {
  options.limits.min_average_busbw = 10;
  recorder().row(row(8.99, 1e-3), 1024);
  EXPECT_EQ(recorder().finish(0, {}), 6);
  EXPECT_EQ(seen.summary.bandwidth_ok, false);
}

TEST_F(RecorderTest, SaysWhatARowCouldNotShowAndWhereItWasCapped) {
  Row weak = row(1, 1e-3);
  weak.coverage = 0.25;
  weak.in_place.iterations = 3;
  recorder().row(weak, 1024);
  recorder().row(row(1, 1e-3), 2048);
  EXPECT_EQ(recorder().finish(0, {}), 0);
  EXPECT_THAT(seen.summary.notes, Contains(HasSubstr("rows up to 1000 B")));
  EXPECT_THAT(seen.summary.notes, Contains(HasSubstr("covers 25.0 %")));
  EXPECT_THAT(seen.summary.notes, Contains(HasSubstr("1 rows ran fewer than 20 iterations")));
}

TEST_F(RecorderTest, NotesAreLimitedInNumber) {
  for (int i = 0; i < 1000; ++i) recorder().note("wrong again");
  recorder().finish(0, {});
  EXPECT_EQ(seen.summary.notes.size(), 100U);
}

TEST(MultiReporter, ThatNeverBeganEndsItsReportersWithTheFailure) {
  const Options options;
  Seen seen;
  MultiReporter recorder(options);
  recorder.add(std::make_unique<SpyReporter>(seen));
  EXPECT_EQ(recorder.finish(3, {"no such backend"}), 3);
  EXPECT_EQ(seen.begun, 0);
  EXPECT_EQ(seen.ended, 1);
  EXPECT_EQ(seen.summary.failure, "no such backend");
  EXPECT_FALSE(seen.summary.complete);
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

class SpeedTest : public RecorderTest {
 protected:
  // Returns what the footer says of these probes before the first and after the last row.
  std::vector<std::string> notes(std::optional<double> before, std::optional<double> after,
                                 bool verbose = false) {
    Seen ended;
    MultiReporter reporter(options);
    reporter.add(std::make_unique<SpyReporter>(ended));
    RunInfo run;
    run.core_to_core = before;
    run.verbose = verbose;
    reporter.begin(run);
    reporter.core_to_core(after);
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
