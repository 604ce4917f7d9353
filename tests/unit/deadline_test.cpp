// The end of a wait: by time, by the bytes that it moves, by an abort.
#include "src/core/deadline.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

TEST(Deadline, AddsASecondForEachMegabyte) {
  EXPECT_EQ(Deadline(5).limit_s(), 5);
  EXPECT_EQ(Deadline(5, 3'000'000).limit_s(), 8);
  EXPECT_EQ(Deadline(0.5, 250'000).limit(), std::chrono::milliseconds(750));
}

TEST(Deadline, HasNoLimitAtZeroWhateverTheBytes) {
  for (const double none : {0.0, -1.0}) {
    Deadline deadline(none, 1'000'000'000);
    EXPECT_EQ(deadline.limit_s(), 0);
    EXPECT_FALSE(deadline.expired());
    EXPECT_NO_THROW(deadline.check("waiting"));
    EXPECT_GT(deadline.limit(), std::chrono::hours(24 * 365));
  }
}

TEST(Deadline, TimesOutNamingTheWait) {
  Deadline deadline(0.001);
  EXPECT_NO_THROW(deadline.check("waiting for rank 3"));  // time counts from here
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  try {
    deadline.check("waiting for rank 3");
    FAIL() << "no Timeout";
  } catch (const Timeout& e) {
    EXPECT_STREQ(e.what(), "waiting for rank 3: no end after 0.001 s (-T)");
  }
}

TEST(Deadline, EndsWhenTheCommunicatorIsAborted) {
  std::atomic<bool> aborted = false;
  Deadline deadline(0, 0, &aborted);
  EXPECT_NO_THROW(deadline.check("waiting for rank 3"));
  std::thread([&] { aborted = true; }).join();
  try {
    deadline.check("waiting for rank 3");
    FAIL() << "no Error";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::failed);
    EXPECT_STREQ(e.what(), "waiting for rank 3: given up, as the job ends");
  }
}

}  // namespace
}  // namespace ccl_tests
