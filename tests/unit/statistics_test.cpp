// Statistics of single iterations, against values computed by hand.
#include "src/measure/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace ccl_tests {
namespace {

TEST(Statistics, OfNothingAreZero) {
  const Statistics none = statistics({});
  EXPECT_EQ(none.max, 0);
  EXPECT_EQ(none.stdev, 0);
}

TEST(Statistics, OfOneValueAreThatValue) {
  const Statistics one = statistics({3});
  for (const double value : {one.min, one.max, one.mean, one.p50, one.p95, one.p99})
    EXPECT_EQ(value, 3);
  EXPECT_EQ(one.stdev, 0);
}

TEST(Statistics, AreNearestRanksAndThePopulationsDeviation) {
  std::vector<double> values;
  for (int k = 20; k >= 1; --k) values.push_back(k);
  const Statistics s = statistics(values);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 20);
  EXPECT_EQ(s.mean, 10.5);
  EXPECT_EQ(s.p50, 11);  // sorted[20 / 2]
  EXPECT_EQ(s.p95, 19);  // the 19th of 20
  EXPECT_EQ(s.p99, 20);  // nccl-tests too: of 20 values the largest
  EXPECT_NEAR(s.stdev, 5.766, 1e-3);
}

// Student's t of a table: 4.302653 for 2 degrees of freedom, 2.093024 for 19.
TEST(HalfWidthOfMean, IsStudents) {
  EXPECT_EQ(half_width_of_mean({}), 0);
  EXPECT_EQ(half_width_of_mean(std::vector<double>{5}), 0);
  EXPECT_NEAR(half_width_of_mean(std::vector<double>{1, 2, 3}), 4.302653 / std::sqrt(3), 1e-3);
  std::vector<double> twenty;
  for (int k = 0; k < 20; ++k) twenty.push_back(k % 2);
  EXPECT_NEAR(half_width_of_mean(twenty), 2.093024 * std::sqrt(5.0 / 19 / 20), 1e-3);
}

}  // namespace
}  // namespace ccl_tests
