// Signals that come to a thread which is not ours. Each test sends them to its own process.
#include "src/core/signals.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "src/job/signals.hpp"

namespace ccl_tests {
namespace {

void mask(int how, int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  ::pthread_sigmask(how, &set, nullptr);
}

// A library's thread that blocks no signal, while all threads that are started now block SIGUSR1 and SIGTERM.
class ForeignThread {
 public:
  ForeignThread() {
    for (const int signal : {SIGUSR1, SIGTERM}) mask(SIG_BLOCK, signal);
    thread_ = std::thread([this] {
      for (const int signal : {SIGUSR1, SIGTERM}) mask(SIG_UNBLOCK, signal);
      while (!stop_) ::usleep(1000);
    });
  }
  ~ForeignThread() {
    stop_ = true;
    thread_.join();
    for (const int signal : {SIGUSR1, SIGTERM}) mask(SIG_UNBLOCK, signal);
  }
  ForeignThread(const ForeignThread&) = delete;
  ForeignThread& operator=(const ForeignThread&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Returns when a thread has taken the signal, which the calling one blocks.
void await_signal(int signal) {
  sigset_t pending;
  do {
    ::usleep(1000);
    ::sigpending(&pending);
  } while (sigismember(&pending, signal) != 0);
}

bool is_default(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL;
}

TEST(Signals, HaveTheNamesOfTheCLibrary) {
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    const char* const name = ::sigabbrev_np(signal);
    EXPECT_STREQ(signal_name(signal), name != nullptr ? name : "?") << signal;
  }
  EXPECT_STREQ(signal_name(SIGRTMIN), "?");
  EXPECT_STREQ(signal_name(0), "?");
}

TEST(Signals, ThatAForeignThreadTakesAreRead) {
  const ForeignThread foreign;
  {
    const SignalPipe signals;
    EXPECT_EQ(signals.next(), 0);
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(signals.wait(), SIGUSR1);
    ::kill(::getpid(), SIGTERM);
    EXPECT_EQ(signals.wait(), SIGTERM);
    EXPECT_EQ(signals.next(), 0);
  }
  EXPECT_TRUE(is_default(SIGUSR1));
  EXPECT_TRUE(is_default(SIGTERM));
}

// Each comes as often as it was sent: none is lost because one of its number is waiting.
TEST(Signals, AreReadInTheirOrder) {
  const SignalPipe signals;
  for (const int signal : {SIGUSR2, SIGTERM, SIGTERM, SIGINT}) ::raise(signal);
  for (const int signal : {SIGUSR2, SIGTERM, SIGTERM, SIGINT, 0}) EXPECT_EQ(signals.next(), signal);
}

TEST(Signals, ThatAllOtherThreadsBlockComeToTheReader) {
  const SignalPipe signals;
  signals.block();
  std::atomic<int> read = 0;
  std::thread reader([&] {
    signals.unblock();
    read = signals.wait();
  });
  ::kill(::getpid(), SIGTERM);
  reader.join();
  EXPECT_EQ(read, SIGTERM);
}

TEST(Signals, AreTheInnerObjectsAndThenTheOuterOnesAgain) {
  const SignalPipe outer;
  {
    const SignalPipe inner;
    ::raise(SIGTERM);
    EXPECT_EQ(inner.next(), SIGTERM);
  }
  ::raise(SIGINT);
  EXPECT_EQ(outer.next(), SIGINT);
  EXPECT_EQ(outer.next(), 0);
}

TEST(Signals, ThatALibraryHandlesAreTakenBackOrLeftToIt) {
  const auto theirs = [](int /*signal*/) {};
  ::signal(SIGUSR1, theirs);  // a profiler's, from before
  {
    const SignalPipe signals;
    ::raise(SIGUSR1);
    EXPECT_EQ(signals.next(), 0);
    for (const int signal : {SIGTERM, SIGHUP, SIGUSR2}) ::signal(signal, theirs);  // at its start
    signals.take_back();
    for (const int signal : {SIGTERM, SIGHUP, SIGUSR2}) ::raise(signal);
    EXPECT_EQ(signals.next(), SIGTERM);
    EXPECT_EQ(signals.next(), SIGHUP);
    EXPECT_EQ(signals.next(), 0);
  }
  ::signal(SIGUSR1, SIG_DFL);
}

TEST(Signals, ThatAreIgnoredStayIgnored) {
  for (const int signal : {SIGHUP, SIGQUIT, SIGXCPU}) ::signal(signal, SIG_IGN);
  {
    const SignalPipe signals;
    for (const int signal : {SIGHUP, SIGQUIT, SIGXCPU}) ::raise(signal);
    EXPECT_EQ(signals.next(), 0);
  }
  for (const int signal : {SIGHUP, SIGQUIT, SIGXCPU}) ::signal(signal, SIG_DFL);
}

// A library that starts a program has a child with these handlers for a moment.
TEST(Signals, ToAForkedChildAreNotThisProcesss) {
  const SignalPipe signals;
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGTERM);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(signals.next(), 0);
}

TEST(SignalWatch, HearsOfTheFirstSignalOnceWhicheverThreadTakesIt) {
  const ForeignThread foreign;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  {
    const SignalWatch watch([&](int signal) {
      const auto byte = static_cast<char>(signal);
      EXPECT_EQ(::write(pipe[1], &byte, 1), 1);
    });
    ::kill(::getpid(), SIGTERM);
    char byte = 0;
    EXPECT_EQ(::read(pipe[0], &byte, 1), 1);
    ::kill(::getpid(), SIGTERM);  // at once: the same wish
    ::kill(::getpid(), SIGUSR1);
    EXPECT_EQ(byte, SIGTERM);
    await_signal(SIGUSR1);  // taken after the watch, it would end this process
  }
  pollfd more{pipe[0], POLLIN, 0};
  EXPECT_EQ(::poll(&more, 1, 0), 0);
  for (const int end : pipe) ::close(end);
}

TEST(SignalWatchDeathTest, EndsTheProcessAtASecondWish) {
  EXPECT_EXIT(
      {
        const SignalWatch watch([](int /*signal*/) {});
        ::kill(::getpid(), SIGINT);
        ::usleep(700'000);
        ::kill(::getpid(), SIGXCPU);  // comes each second
        ::usleep(50'000);
        ::kill(::getpid(), SIGINT);
        ::sleep(10);
      },
      testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace ccl_tests
