// Statistics of single iterations, against values computed by hand.
#include "src/measure/statistics.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ccl_tests
