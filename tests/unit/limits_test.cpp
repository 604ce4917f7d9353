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
  EXPECT_THAT(held_to(limits, row(2.0, 500e-6), 1024).missed, IsEmpty());
}

TEST(Limits, EveryPlacementAndEveryLimitOfTheSizeCounts) {
  const Limits limits{{{1024, 2.0}, {1024, 1.0}, {8, 9}}, {{1024, 500}}, {}};
  Row slow = row(1.5, 1e-6);
  slow.in_place.seconds = 501e-6;
  EXPECT_THAT(
      held_to(limits, slow, 1024).missed,
      ElementsAre("too slow: 1024 B float sum out of place: busbw 1.5000 GB/s is below "
                  "--min-busbw 2",
                  "too slow: 1024 B float sum in place: busbw 1.5000 GB/s is below "
                  "--min-busbw 2",
                  "too slow: 1024 B float sum in place: 501.00 us is above --max-time 500"));
}

// A time of 400 to 500 us with a busbw of 1.8 to 2.25 GB/s.
Row with_interval() {
  Row uncertain = row(2.0, 450e-6);
  uncertain.out_of_place.stream = StreamTimes{.low = 400e-6, .high = 500e-6};
  uncertain.in_place.stream = uncertain.out_of_place.stream;
  return uncertain;
}

TEST(Limits, AreMissedIfAllOfTheIntervalLiesBeyond) {
  EXPECT_EQ(held_to({{}, {{8, 399}}, {}}, with_interval(), 8).missed.size(), 2U);
  EXPECT_EQ(held_to({{{8, 2.26}}, {}, {}}, with_interval(), 8).missed.size(), 2U);
  const LimitFindings kept = held_to({{{8, 1.79}}, {{8, 501}}, {}}, with_interval(), 8);
  EXPECT_THAT(kept.missed, IsEmpty());
  EXPECT_THAT(kept.undecided, IsEmpty());
}

TEST(Limits, WithinTheIntervalAreNotDecided) {
  const LimitFindings found = held_to({{{8, 2.2}}, {{8, 401}}, {}}, with_interval(), 8);
  EXPECT_THAT(found.missed, IsEmpty());
  ASSERT_EQ(found.undecided.size(), 4U);
  EXPECT_EQ(found.undecided[0],
            "not decided: 8 B float sum out of place: busbw 2.0000 GB/s, 1.8000 to 2.2500, is on "
            "both sides of --min-busbw 2.2");
  EXPECT_EQ(found.undecided[1],
            "not decided: 8 B float sum out of place: 450.00 us, 400.00 to 500.00, is on both "
            "sides of --max-time 401");
}

// e to the power of -+0.2 around the time, and the interval.
TEST(Limits, WithinWhatTheTimeIsAtOtherMomentsAreNotDecided) {
  const auto found = [](double limit) {
    return held_to({{}, {{8, limit}}, {}}, with_interval(), 8, JudgedBy::interval, 0.2);
  };
  EXPECT_EQ(found(356).missed.size(), 2U);
  EXPECT_EQ(found(357).undecided.size(), 2U);
  EXPECT_EQ(found(564).undecided.size(), 2U);
  EXPECT_EQ(found(565).undecided.size() + found(565).missed.size(), 0U);
  const LimitFindings batch =
      held_to({{}, {{8, 400}}, {}}, row(2.0, 450e-6), 8, JudgedBy::interval, 0.2);
  EXPECT_EQ(batch.missed.size(), 2U);
}

TEST(Limits, AreHeldAgainstTheFastCallsWhereRanksWaitForCpus) {
  Row row = with_interval();
  row.out_of_place.stream->fast = row.in_place.stream->fast = 300e-6;
  const LimitFindings kept = held_to({{{8, 2.9}}, {{8, 301}}, {}}, row, 8, JudgedBy::fast);
  EXPECT_THAT(kept.missed, IsEmpty());
  EXPECT_THAT(kept.undecided, IsEmpty());
  const LimitFindings missed = held_to({{{8, 3.1}}, {{8, 299}}, {}}, row, 8, JudgedBy::fast);
  ASSERT_EQ(missed.missed.size(), 4U);
  EXPECT_EQ(missed.missed[0],
            "too slow: 8 B float sum out of place: busbw 3.0000 GB/s is below --min-busbw 3.1");
  EXPECT_EQ(missed.missed[1],
            "too slow: 8 B float sum out of place: 300.00 us is above --max-time 299");
}

TEST(Limits, OtherSizesAreNotJudged) {
  EXPECT_THAT(held_to({{{1024, 2.0}}, {{1024, 0}}, {}}, row(0, 1), 2048).missed, IsEmpty());
}

TEST(Limits, TheLineNamesPairAndGroup) {
  Row slow = row(0, 1);
  slow.op.reset();
  slow.pair = {1, 2};
  EXPECT_EQ(held_to({{}, {{8, 0}}, {}}, slow, 8).missed.at(0),
            "too slow: 8 B float pair 1:2 out of place: 1000000.00 us is above --max-time 0");
  slow.pair.reset();
  slow.group = 3;
  EXPECT_THAT(held_to({{}, {{8, 0}}, {}}, slow, 8).missed.at(1),
              testing::HasSubstr("float group 3 in"));
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
