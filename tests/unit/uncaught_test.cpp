#include "src/job/signals.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <stdexcept>
#include <thread>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

constexpr int told = 77, told_something_else = 78;

[[noreturn]] void thread_throws() {
  std::promise<std::string> what;
  const UncaughtWatch watch([&](const std::string& text) { what.set_value(text); });
  std::thread([] { throw std::runtime_error("no peer name"); }).detach();
  const std::string text = what.get_future().get();
  const bool right =
      watch.happened() && text == "a thread of the library ended by an exception: no peer name";
  std::_Exit(right ? told : told_something_else);
}

[[noreturn]] void main_thread_throws() {
  const UncaughtWatch watch([](const std::string& /*what*/) { std::_Exit(told); });
  std::terminate();
}

TEST(UncaughtDeathTest, AThreadsExceptionIsToldAndTheProcessGoesOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(thread_throws(), testing::ExitedWithCode(told), "");
}

TEST(UncaughtDeathTest, TheMainThreadsEndIsTheProcesss) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(main_thread_throws(), testing::ExitedWithCode(exit_code(Exit::failed)),
              "std::terminate was called");
}

}  // namespace
}  // namespace ccl_tests
