#include "src/job/ranks.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

TEST(FailureBox, EndsWhenAllRanksHaveFinished) {
  FailureBox box;
  box.finished();
  box.finished();
  EXPECT_FALSE(box.wait_for_end(2));
}

TEST(FailureBox, KeepsTheFirstFailure) {
  FailureBox box;
  box.put({exit_code(Exit::timed_out), "first"});
  box.put({exit_code(Exit::failed), "second"});
  const auto kept = box.wait_for_end(1);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->message, "first");
}

// Ranks that finish meanwhile make no success of it.
TEST(FailureBox, WaitsForAFailureThatIsBeingExplained) {
  FailureBox box;
  box.expect();
  box.finished();
  std::thread explains([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    box.put({exit_code(Exit::failed), "explained"});
  });
  EXPECT_TRUE(box.wait_for_end(1));
  explains.join();
}

}  // namespace
}  // namespace ccl_tests
