#include "src/job/activity.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace ccl_tests {
namespace {

using std::chrono::milliseconds;

TEST(Watchdog, BarksOnceWhenBeatsStop) {
  Activity activity;
  std::atomic<int> barks = 0;
  std::atomic<double> stuck_s = 0;
  const auto watchdog = start_watchdog(activity, [&](double s) {
    stuck_s = s;
    ++barks;
  });
  const Expected expected(activity, 0.05);
  while (barks == 0) std::this_thread::sleep_for(milliseconds(5));
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(barks, 1);
  EXPECT_GE(stuck_s, 0.05);
}

TEST(Watchdog, IsQuietWhileTheRankBeatsOrRests) {
  Activity activity;
  std::atomic<int> barks = 0;
  const auto watchdog = start_watchdog(activity, [&](double) { ++barks; });
  {
    const Expected expected(activity, 20);  // far longer than a busy machine keeps a thread waiting
    for (int k = 0; k < 20; ++k) {
      std::this_thread::sleep_for(milliseconds(5));
      activity.enter();
    }
  }
  std::this_thread::sleep_for(milliseconds(100));  // at rest
  EXPECT_EQ(barks, 0);
}

TEST(Activity, SaysWhetherTheRankIsInsideTheLibrary) {
  Activity activity;
  activity.phase("starting");
  EXPECT_EQ(activity.status(3).position, 0U);
  activity.row("X");
  EXPECT_EQ(activity.status(3).text, "X");
  EXPECT_EQ(activity.status(3).position, 0U);
  inside_library(activity, [&] { EXPECT_EQ(activity.status(3).position, 1U); });
  EXPECT_EQ(activity.status(3).position, 2U);
  activity.row("X");  // of the same row
  EXPECT_EQ(activity.status(3).position, 2U);
  activity.row("Y");
  EXPECT_EQ(activity.status(3).position, 0U);
  activity.phase("starting again");
  inside_library(activity, [&] { EXPECT_EQ(activity.status(3).position, 0U); });
}

TEST(Activity, StaysInsideACallThatThrows) {
  Activity activity;
  activity.row("X");
  try {
    const Expected expected(activity, 60);
    inside_library(activity, [] { throw std::runtime_error("timed out"); });
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(activity.status(3).position % 2, 1U);
  EXPECT_EQ(activity.limit_s(), 0);
}

TEST(Watchdog, LeavesAtOnceThoughNothingIsExpected) {
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < 20; ++k) {
    Activity activity;
    const auto watchdog = start_watchdog(activity, [](double) {});
  }
  // It naps for a second: 20 of them would take as many.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
}

}  // namespace
}  // namespace ccl_tests
