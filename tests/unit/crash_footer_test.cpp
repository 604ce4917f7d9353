// What is written for a process that is killed. Each test kills a child of its own.
#include "src/report/crash_footer.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "src/core/error.hpp"
#include "src/report/run_results.hpp"
#include "src/report/verdict_file.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns what a child prints that does `what`, until nobody holds its stdout: what keeps its crash footer does.
std::string printed_by(const std::function<void()>& what) {
  std::array<int, 2> pipe{};
  EXPECT_EQ(::pipe(pipe.data()), 0);
  std::fflush(stdout);  // what a test printed before is not the child's
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::close(pipe[0]);
    ::dup2(pipe[1], STDOUT_FILENO);
    ::close(pipe[1]);
    what();
    ::_exit(0);
  }
  ::close(pipe[1]);
  std::string printed;
  std::array<char, 4096> block{};
  for (::ssize_t bytes = 0; (bytes = ::read(pipe[0], block.data(), block.size())) > 0;)
    printed.append(block.data(), static_cast<std::size_t>(bytes));
  ::close(pipe[0]);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return printed;
}

void kill_this_process() { ::kill(::getpid(), SIGKILL); }

TEST(CrashFooters, OfAKilledProcessAreWritten) {
  const TemporaryFolder folder;
  const std::string path = folder.write("run.jsonl", "header\nrow\n");
  const std::string printed = printed_by([&] {
    CrashFooter footer;
    footer.set({{path, "old\n"}, {"", "# old\n"}});
    footer.set({{path, "footer\n"}, {"", "# Test failure\n"}});
    kill_this_process();
  });
  EXPECT_EQ(printed, "# Test failure\n");
  EXPECT_EQ(read(path), "header\nrow\nfooter\n");
}

TEST(CrashFooters, FollowTheLastWholeLine) {
  const TemporaryFolder folder;
  const std::string path = folder.write("run.jsonl", "header\n" + std::string(10'000, 'x'));
  const std::string empty = folder.write("empty.csv", "");
  printed_by([&] {
    CrashFooter footer;
    footer.set({{path, "footer\n"}, {empty, "end\n"}, {folder.file("gone.csv"), "end\n"}});
    kill_this_process();
  });
  EXPECT_EQ(read(path), "header\nfooter\n");
  EXPECT_EQ(read(empty), "end\n");
}

// It is killed in the middle of its own end.
TEST(CrashFooters, FollowWhatIsToStay) {
  const TemporaryFolder folder;
  const std::string path = folder.write("run.jsonl", "header\nrow\nfooter\nhalf a");
  printed_by([&] {
    CrashFooter footer;
    footer.set({{path, "footer\n", 11}});
    kill_this_process();
  });
  EXPECT_EQ(read(path), "header\nrow\nfooter\n");
}

// A file that has taken the name is another run's.
TEST(CrashFooters, LeaveAloneWhatHasTakenTheNameOfAFile) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.jsonl");
  printed_by([&] {
    RunResults results({});
    results.add(file_reporter(path));
    results.survive_kills();
    results.begin({});
    std::filesystem::rename(path, path + ".1");
    std::ofstream(path) << "another run's\nhalf a line";
    kill_this_process();
  });
  EXPECT_EQ(read(path), "another run's\nhalf a line");
  EXPECT_THAT(read(path + ".1"), HasSubstr("\"type\":\"header\""));
}

TEST(CrashFooters, OfAProcessThatHasSaidAllAreNone) {
  const std::string printed = printed_by([] {
    {
      CrashFooter footer;
      footer.set({{"", "# Test failure\n"}});
    }
    kill_this_process();
  });
  EXPECT_EQ(printed, "");
}

TEST(CrashFooters, ThatHaveNoRoomAreLeftOut) {
  const std::string printed = printed_by([] {
    CrashFooter footer;
    footer.set({{"", "first\n"}, {"", std::string(2 << 20, 'x')}});
    kill_this_process();
  });
  EXPECT_EQ(printed, "first\n");
}

// What is known only when the process has ended.
std::string end_of(const std::function<void()>& end) {
  return printed_by([&] {
    CrashFooter footer;
    footer.set({{"", fmt::format("{{\"{}\"}} {}; code {}\n", how_process_0_ended, advice_on_the_end,
                                 exit_code_of_the_end)}});
    footer.doing("starting gloo");
    footer.doing("all_reduce float sum, 8 B");
    end();
  });
}

// A fault of this process, whatever a sanitizer would make of it.
void fault(int signal) {
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

TEST(CrashFooters, SayHowTheProcessEndedAndDuringWhat) {
  EXPECT_EQ(
      end_of(kill_this_process),
      "{\"process 0 was killed by signal 9 (SIGKILL) during all_reduce float sum, 8 B\"} SIGKILL comes from the "
      "kernel (out of memory: dmesg), a batch limit or kill -9; code 4\n");
  EXPECT_THAT(end_of([] { fault(SIGSEGV); }),
              AllOf(HasSubstr("{\"process 0 was ended by signal 11 (SIGSEGV) during all_reduce"),
                    Not(HasSubstr("SIGKILL"))));
  EXPECT_THAT(end_of([] { fault(SIGBUS); }),
              AllOf(HasSubstr("signal 7 (SIGBUS)"), HasSubstr("; /dev/shm has ")));
  EXPECT_THAT(end_of([] { ::_exit(17); }),
              HasSubstr("{\"a library ended process 0 with exit code 17 during all_reduce"));
}

TEST(CrashFooters, SayThatTheProcessHadBeenStopped) {
  EXPECT_THAT(end_of([] {
                const ::pid_t stopped = ::getpid();
                if (::fork() == 0) {
                  ::sleep(3);  // it is looked at every 2 s
                  ::kill(stopped, SIGKILL);
                  ::_exit(0);
                }
                ::raise(SIGSTOP);
              }),
              AllOf(HasSubstr("(SIGKILL) after it had been stopped during"), HasSubstr("SIGSTOP"),
                    HasSubstr(" code 5\n")));
}

// Other braces stay, and what a program says of itself cannot break a file's format.
TEST(CrashFooters, AreLeftAsTheyAreElsewhere) {
  EXPECT_EQ(
      printed_by([] {
        CrashFooter footer;
        footer.set({{"", fmt::format("{{}} {{how\n{}\n", how_process_0_ended)}});
        footer.doing(fmt::format("{:x<250}\"<\n{:y<50}", "", ""));
        kill_this_process();
      }),
      fmt::format("{{}} {{how\nprocess 0 was killed by signal 9 (SIGKILL) during {:x<250}???yy\n",
                  ""));
}

// Its end is where the process is killed: before the files' ends if it has a path, behind them if not.
class Deadly : public Reporter {
 public:
  explicit Deadly(std::string path) : path_(std::move(path)) {}
  std::string path() const override { return path_; }
  void begin(const RunInfo& /*run*/) override {}
  void row(const Row& /*row*/) override {}
  void end(const RunSummary& /*summary*/) override { kill_this_process(); }

 private:
  std::string path_;
};

TEST(CrashFooters, AreOneEndWithOneVerdictWheneverItIsCutShort) {
  for (const char* const path : {"deadly.csv", ""}) {
    const TemporaryFolder folder;
    const std::string printed = printed_by([&] {
      RunResults results({});
      results.add(file_reporter(folder.file("run.jsonl")));
      results.add(file_reporter(folder.file("run.csv")));
      results.add(std::make_unique<Deadly>(path));
      results.add(table_reporter(stdout));
      results.survive_kills();
      results.begin({});
      results.row(Row(), 8);
      results.finish(exit_code(Exit::timed_out), {"rank 3 is stopped"});
    });
    const std::string lines = read(folder.file("run.jsonl")), rows = read(folder.file("run.csv"));
    const std::size_t footer = lines.find("\"type\":\"footer\"");
    ASSERT_NE(footer, std::string::npos) << lines;
    EXPECT_EQ(lines.find("\"type\":\"footer\"", footer + 1), std::string::npos);
    EXPECT_THAT(lines.substr(footer), HasSubstr("\"exit_code\":5"));
    EXPECT_THAT(lines.substr(footer), HasSubstr("rank 3 is stopped"));
    EXPECT_THAT(rows, EndsWith(",5,rank 3 is stopped\n"));
    EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'),
              4);  // names, two halves of the row, the end
    EXPECT_THAT(printed, HasSubstr("# Test failure: rank 3 is stopped"));
  }
}

// Then its launcher says that the job has failed.
TEST(CrashFooters, OfAProcessThatIsKilledAfterItsEndAreWrittenOver) {
  for (const bool killed : {true, false}) {
    const TemporaryFolder folder;
    const auto file = [&](const char* name) { return read(folder.file(name)); };
    printed_by([&] {
      RunResults results({});
      for (const char* name : {"run.jsonl", "run.csv", "run.json", "run.xml", "run.prom"})
        results.add(file_reporter(folder.file(name)));
      results.add(verdict_reporter(folder.file("verdict")));
      results.survive_kills();
      results.begin({});
      results.row(Row(), 8);
      results.finish(0, {});
      if (killed) kill_this_process();
      ::_exit(0);
    });
    const auto says = [&](const char* in_end) {
      return killed ? testing::Matcher<std::string>(HasSubstr(in_end)) : Not(HasSubstr(in_end));
    };
    const std::string lines = file("run.jsonl"), verdict = file("verdict");
    for (const std::string& one : {lines, verdict}) {
      EXPECT_THAT(one, says("\"verdict\":\"incomplete\",\"complete\":false,\"exit_code\":4"));
      EXPECT_THAT(one, says("process 0 was killed by signal 9 (SIGKILL)"));
      EXPECT_EQ(one.find("\"complete\":"), one.rfind("\"complete\":")) << one;
    }
    EXPECT_THAT(file("run.csv"), says(",4,\"process 0 was killed"));
    EXPECT_THAT(file("run.json"), says("the run did not reach its end"));
    EXPECT_THAT(file("run.xml"), says("the run has not reached its end"));
    EXPECT_THAT(file("run.prom"), says("state=\"incomplete\"} 1"));
  }
}

// A signal to the group of a job means its processes: the end is still to be written.
TEST(CrashFooters, AreWrittenThoughTheGroupIsKilled) {
  const std::string printed = printed_by([] {
    ::setpgid(0, 0);
    CrashFooter footer;
    footer.set({{"", "# Test failure\n"}});
    ::kill(0, SIGKILL);
  });
  EXPECT_EQ(printed, "# Test failure\n");
}

}  // namespace
}  // namespace ccl_tests
