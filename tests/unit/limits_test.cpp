// Which limits a row misses, and which sizes nobody measured.
#include "src/report/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Row row(double busbw, double seconds) {
  Row row;
  row.op = ReduceOp::sum;
  row.out_of_place.busbw = row.in_place.busbw = busbw;
  row.out_of_place.seconds = row.in_place.seconds = seconds;
  return row;
}

TEST(Limits, AValueThatIsExactlyTheLimitIsAllowed) {
  const Limits limits{{{1024, 2.0}}, {{1024, 500}}, {}};
  EXPECT_THAT(missed_by(limits, row(2.0, 500e-6), 1024), IsEmpty());
}

TEST(Limits, EveryPlacementAndEveryLimitOfTheSizeCounts) {
  const Limits limits{{{1024, 2.0}, {1024, 1.0}, {8, 9}}, {{1024, 500}}, {}};
  Row slow = row(1.5, 1e-6);
  slow.in_place.seconds = 501e-6;
  EXPECT_THAT(
      missed_by(limits, slow, 1024),
      ElementsAre("too slow: 1024 B float sum out of place: busbw 1.5000 GB/s is below "
                  "--min-busbw 2",
                  "too slow: 1024 B float sum in place: busbw 1.5000 GB/s is below "
                  "--min-busbw 2",
                  "too slow: 1024 B float sum in place: 501.00 us is above --max-time 500"));
}

TEST(Limits, OtherSizesAreNotJudged) {
  EXPECT_THAT(missed_by({{{1024, 2.0}}, {{1024, 0}}, {}}, row(0, 1), 2048), IsEmpty());
}

TEST(Limits, TheLineNamesPairAndGroup) {
  Row slow = row(0, 1);
  slow.op.reset();
  slow.pair = {1, 2};
  EXPECT_EQ(missed_by({{}, {{8, 0}}, {}}, slow, 8).at(0),
            "too slow: 8 B float pair 1:2 out of place: 1000000.00 us is above --max-time 0");
  slow.pair.reset();
  slow.group = 3;
  EXPECT_THAT(missed_by({{}, {{8, 0}}, {}}, slow, 8).at(1), testing::HasSubstr("float group 3 in"));
}

TEST(Limits, ASizeThatNoRowHasIsNamedWithItsFlag) {
  const Limits limits{{{8, 1}, {16, 1}}, {{32, 1}}, {}};
  EXPECT_THAT(unmeasured(limits, {8}), ElementsAre("not measured: 16 B, which --min-busbw names",
                                                   "not measured: 32 B, which --max-time names"));
  EXPECT_THAT(unmeasured(limits, {8, 16, 32}), IsEmpty());
}

TEST(Limits, TheAverageHasNcclTestsSlack) {
  EXPECT_FALSE(average_suffices({}, 1).has_value());
  EXPECT_EQ(average_suffices({{}, {}, 10}, 9.0), true);
  EXPECT_EQ(average_suffices({{}, {}, 10}, 8.99), false);
}

}  // namespace
}  // namespace ccl_tests
