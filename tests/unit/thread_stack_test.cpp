// Where another thread is.
#include "src/job/thread_stack.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <future>
#include <thread>

namespace ccl_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

#ifdef __SANITIZE_THREAD__
constexpr bool delays_signals = true;
#else
constexpr bool delays_signals = false;
#endif
constexpr const char* why_not = "the thread sanitizer keeps signals from threads that rest";

// A thread that rests in the C library until it is let go.
class Resting {
 public:
  explicit Resting(bool answers = true) {
    std::promise<void> rests;
    thread_ = std::thread([this, answers, &rests] {
      if (!answers) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
      }
      rests.set_value();
      leave_.get_future().wait();
    });
    rests.get_future().wait();
  }
  ~Resting() {
    leave_.set_value();
    thread_.join();
  }
  std::string stack(double limit_s) { return stack_of(thread_.native_handle(), limit_s); }

 private:
  std::promise<void> leave_;
  std::thread thread_;
};

TEST(ThreadStack, NamesTheFunctionsOfAnotherThread) {
  if (delays_signals) GTEST_SKIP() << why_not;
  Resting thread;
  for (int k = 0; k < 3; ++k) {
    const std::string text = thread.stack(30);
    EXPECT_THAT(text, HasSubstr(" <- "));
    EXPECT_THAT(text, HasSubstr("harness_test"));
    EXPECT_THAT(text, Not(HasSubstr("answer_signal")));
  }
}

TEST(ThreadStack, DoesNotWaitForAThreadThatDoesNotAnswer) {
  if (delays_signals) GTEST_SKIP() << why_not;
  Resting silent(false);
  EXPECT_EQ(silent.stack(0.05), "");
  Resting other;  // and then others are asked as before
  EXPECT_THAT(other.stack(30), HasSubstr(" <- "));
}

TEST(ThreadStack, LeavesSomebodyElsesSignalAlone) {
  struct sigaction other {};
  struct sigaction before {};
  other.sa_handler = SIG_IGN;
  sigaction(SIGRTMIN + 6, &other, &before);
  {
    Resting thread;
    EXPECT_EQ(thread.stack(1), "");
  }
  sigaction(SIGRTMIN + 6, &before, nullptr);
}

TEST(ThreadStack, NamesAreShort) {
  EXPECT_EQ(short_function_name("MPI_Allreduce"), "MPI_Allreduce");
  EXPECT_EQ(short_function_name("_ZN4gloo9allreduceERKNS_16AllreduceOptionsE"), "gloo::allreduce");
  EXPECT_EQ(short_function_name("_ZNSt6vectorIiSaIiEE9push_backERKi"), "std::vector::push_back");
  EXPECT_EQ(short_function_name("_ZN9ccl_tests12_GLOBAL__N_17CallersD2Ev"), "Callers::~Callers");
  EXPECT_EQ(short_function_name("_ZN9ccl_tests7measureIiEEvi"), "measure");  // void ...<int>(int)
}

TEST(RankStacks, AreOfRanksThatRun) {
  if (delays_signals) GTEST_SKIP() << why_not;
  RankStacks stacks(3);
  EXPECT_TRUE(stacks.texts(1).empty());
  std::promise<void> begun, leave;
  std::thread rank([&] {
    stacks.begin(2);
    begun.set_value();
    leave.get_future().wait();
    stacks.end(2);
  });
  begun.get_future().wait();
  const auto texts = stacks.texts(30);
  leave.set_value();
  rank.join();
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_EQ(texts.front().first, 2);
  EXPECT_THAT(texts.front().second, HasSubstr(" <- "));
  EXPECT_TRUE(stacks.texts(1).empty());
}

}  // namespace
}  // namespace ccl_tests
