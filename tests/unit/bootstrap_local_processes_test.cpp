#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <sstream>

#include "src/bootstrap/child_process.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

// The helper as a user would start it, both its streams in one pipe.
class HelperRun {
 public:
  explicit HelperRun(const std::vector<std::string>& arguments) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    std::vector<char*> argv = {const_cast<char*>(CCL_BOOTSTRAP_HELPER)};
    for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(pipe[1], 1);
      ::dup2(pipe[1], 2);
      ::execv(argv[0], argv.data());
      ::_exit(99);
    }
    ::close(pipe[1]);
    out_ = pipe[0];
  }
  HelperRun(const HelperRun&) = delete;
  HelperRun& operator=(const HelperRun&) = delete;
  ~HelperRun() {
    if (!ended_) finish();
    ::close(out_);
  }

  void wait_for(const std::string& text) {
    while (output_.find(text) == std::string::npos && read_more()) {
    }
  }
  void signal(int number) const { ::kill(pid_, number); }

  // The exit code; output() is complete then. The pipe ends when the last rank has ended.
  int finish() {
    while (read_more()) {
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  const std::string& output() const { return output_; }

 private:
  bool read_more() {
    std::array<char, 4096> chunk{};
    const ssize_t bytes = ::read(out_, chunk.data(), chunk.size());
    if (bytes > 0) output_.append(chunk.data(), static_cast<std::size_t>(bytes));
    return bytes > 0;
  }

  pid_t pid_ = -1;
  int out_ = -1;
  bool ended_ = false;
  std::string output_;
};

class LocalProcesses : public testing::TestWithParam<int> {};

TEST_P(LocalProcesses, AllPass) {
  std::vector<std::string> arguments = {std::to_string(GetParam()), "codes"};
  for (int i = 0; i < GetParam(); ++i) arguments.emplace_back("0");
  HelperRun run(arguments);
  EXPECT_EQ(run.finish(), 0);
  EXPECT_EQ(run.output(), "");
}

TEST_P(LocalProcesses, LinesDoNotMix) {
  HelperRun run({std::to_string(GetParam()), "lines"});
  EXPECT_EQ(run.finish(), 0);
  std::istringstream lines(run.output());
  std::vector<int> next(static_cast<std::size_t>(GetParam()), 0);
  int open_ends = 0;
  for (std::string line; std::getline(lines, line);) {
    int prefix = -1, number = -1, rank = -1;
    if (std::sscanf(line.c_str(), "[rank %d] line %d of rank %d", &prefix, &number, &rank) == 3) {
      EXPECT_EQ(prefix, rank);
      EXPECT_EQ(number, next.at(static_cast<std::size_t>(rank))++);
    } else {
      EXPECT_THAT(line, HasSubstr("] no end of line"));
      ++open_ends;
    }
  }
  EXPECT_THAT(next, testing::Each(100));
  EXPECT_EQ(open_ends, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Ranks, LocalProcesses, testing::Values(1, 3, 4, 64));

TEST(LocalProcesses, OnlyRank0InheritsTheSocketThatListens) {
  HelperRun run({"3", "listeners"});
  EXPECT_EQ(run.finish(), 0);
  EXPECT_THAT(run.output(), HasSubstr("[rank 0] inherited 1\n"));
  EXPECT_THAT(run.output(), HasSubstr("[rank 1] inherited 0\n"));
  EXPECT_THAT(run.output(), HasSubstr("[rank 2] inherited 0\n"));
}

TEST(LocalProcessesFailure, TheMostTellingCodeWins) {
  EXPECT_EQ(HelperRun({"3", "codes", "0", "7", "4"}).finish(), 7);
  EXPECT_EQ(HelperRun({"3", "codes", "8", "0", "6"}).finish(), 6);
}

TEST(LocalProcessesFailure, AKilledRankIsNamedAndTheOthersLearnOfIt) {
  for (const char* victim : {"0", "1", "2"}) {
    HelperRun run({"3", "die", victim});
    EXPECT_EQ(run.finish(), 4);
    const std::string named = "rank " + std::string(victim) + " ";
    EXPECT_THAT(run.output(), HasSubstr(named + "(pid "));
    EXPECT_THAT(run.output(), HasSubstr("was ended by signal 9"));
    for (const char* other : {"0", "1", "2"}) {
      const std::string line = "[rank " + std::string(other) + "] " + named + "on ";
      if (std::string(other) == victim) {
        EXPECT_THAT(run.output(), Not(HasSubstr(line)));
      } else {
        EXPECT_THAT(run.output(), HasSubstr(line));
      }
    }
  }
}

TEST(LocalProcessesFailure, RanksThatDoNotEndAreEnded) {
  HelperRun run({"3", "stuck", "1"});
  EXPECT_EQ(run.finish(), 7);
  EXPECT_THAT(run.output(), HasSubstr("was ended by signal 15"));
}

TEST(LocalProcessesSignal, IsPassedOn) {
  HelperRun run({"3", "signal"});
  run.wait_for("ready\n");
  run.signal(SIGTERM);
  EXPECT_EQ(run.finish(), 6);
}

// timeout(1) signals its child, then its group.
TEST(LocalProcessesSignal, ThatComesTwiceAtOnceIsOne) {
  HelperRun run({"3", "signal"});
  run.wait_for("ready\n");
  run.signal(SIGTERM);
  run.signal(SIGINT);
  EXPECT_EQ(run.finish(), 6);
  EXPECT_THAT(run.output(), Not(HasSubstr("killed")));
}

TEST(LocalProcessesSignal, RanksEndWithTheirSupervisor) {
  HelperRun run({"3", "signal"});
  run.wait_for("ready\n");
  run.signal(SIGKILL);
  EXPECT_EQ(run.finish(), 128 + SIGKILL);  // returns only when no rank holds the pipe any more
}

ChildProgram shell(const std::string& command) {
  return {"/bin/sh", {"sh", "-c", command}, {"PATH=/usr/bin:/bin"}};
}

TEST(Child, IsKnownByItsEndWithoutSigchld) {
  Child passed = start_child(shell("exit 3"));
  EXPECT_EQ(passed.wait().code, 3);
  EXPECT_EQ(passed.status()->signal, 0);
  Child killed = start_child(shell("kill -9 $$"));
  EXPECT_EQ(killed.wait().signal, SIGKILL);
  EXPECT_EQ(killed.status()->code, 128 + SIGKILL);
}

TEST(Child, EndsThoughSigchldWasIgnored) {
  ::signal(SIGCHLD, SIG_IGN);
  Child child = start_child(shell("exit 3"));
  EXPECT_EQ(child.wait().code, 3);
  ::signal(SIGCHLD, SIG_DFL);
}

// Its exit code is nobody's to know then.
TEST(Child, ThatALibraryHasWaitedForHasEnded) {
  Child child = start_child(shell("exit 0"));
  EXPECT_EQ(::waitpid(-1, nullptr, 0), child.pid());
  EXPECT_EQ(child.wait().code, exit_code(Exit::failed));
  EXPECT_FALSE(child.status()->known);
}

// Its process group is not the terminal's.
TEST(Child, IsNotStoppedByATerminalThatItWritesTo) {
  Child child = start_child(shell(
      "ignored=$(sed -n 's/^SigIgn:[^0-9a-f]*/0x/p' /proc/self/status); exit $((ignored >> 21 & 1))"));
  static_assert(SIGTTOU == 22);
  EXPECT_EQ(child.wait().code, 1);
}

TEST(Child, IgnoresWhatItsParentWasToldToIgnoreAndNothingElse) {
  for (const int signal : {SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  Child hup = start_child(shell("kill -HUP $$; exit 3"));
  Child pipe = start_child(shell("kill -PIPE $$; exit 3"));
  EXPECT_EQ(hup.wait().code, 3);
  EXPECT_EQ(pipe.wait().signal, SIGPIPE);
  for (const int signal : {SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
}

TEST(LinePrefix, CutsAtLinesAndAtAMaximum) {
  LinePrefix lines(7);
  EXPECT_EQ(lines.add("a"), "");
  EXPECT_EQ(lines.add("b\nc\n\nd"), "[rank 7] ab\n[rank 7] c\n[rank 7] \n");
  EXPECT_EQ(lines.rest(), "[rank 7] d\n");
  EXPECT_EQ(lines.rest(), "");
  EXPECT_NE(lines.add(std::string(100000, 'x')), "");
}

}  // namespace
}  // namespace ccl_tests
