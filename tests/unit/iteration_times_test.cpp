// -I: the slowest rank's time of each iteration, of all ranks and of each process.
#include "src/run/row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(IterationTimes, AreOfTheSlowestRankOfAllAndOfEachProcess) {
  const std::vector<double> a = {4, 2, 2}, b = {2, 6, 2}, c = {2, 4, 8}, d = {6, 2, 4};
  const IterationTimes times = iteration_times({{0, a}, {0, b}, {1, c}, {1, d}}, 2, 0);
  EXPECT_THAT(times.seconds, ElementsAre(3, 3, 4));
  EXPECT_THAT(times.processes, ElementsAre(0, 1));
  EXPECT_THAT(times.process_seconds, ElementsAre(2, 3, 1, 3, 2, 4));
  EXPECT_EQ(times.of.max, 4);
}

TEST(IterationTimes, OfAGroupHaveItsProcessesInAscendingOrder) {
  const std::vector<double> a = {1, 2}, b = {3, 4};
  const IterationTimes times = iteration_times({{7, a}, {2, b}}, 1, 0);
  EXPECT_THAT(times.processes, ElementsAre(2, 7));
  EXPECT_THAT(times.process_seconds, ElementsAre(3, 4, 1, 2));
}

TEST(IterationTimes, OfOneProcessAreNotWrittenTwice) {
  const std::vector<double> a = {1, 2}, b = {3, 1};
  const IterationTimes times = iteration_times({{5, a}, {5, b}}, 1, 0);
  EXPECT_THAT(times.seconds, ElementsAre(3, 2));
  EXPECT_THAT(times.processes, IsEmpty());
  EXPECT_THAT(times.process_seconds, IsEmpty());
}

TEST(IterationTimes, StatisticsLeaveOutTheFirstButNeverTheLast) {
  const std::vector<double> a = {9, 1, 2}, b = {1, 1, 1};
  for (const int skip : {0, 1, 2, 3, 100}) {
    const IterationTimes times = iteration_times({{0, a}, {1, b}}, 1, skip);
    EXPECT_EQ(times.skipped, std::min(skip, 2));
    EXPECT_EQ(times.of.max, skip == 0 ? 9 : 2);
    EXPECT_EQ(times.process_seconds.size(), 6U);
  }
}

}  // namespace
}  // namespace ccl_tests
