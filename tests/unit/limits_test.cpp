// What a row's times say about its limits, and which sizes nobody measured.
#include "src/judge/limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/judge/limit_judge.hpp"
#include "src/record/quantity_text.hpp"

namespace ccl_tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr LimitVerdict kept = LimitVerdict::kept, undecided = LimitVerdict::undecided,
                       missed = LimitVerdict::missed;

Row row(double busbw, double seconds) {
  Row row;
  row.op = ReduceOp::sum;
  row.out_of_place.busbw = row.in_place.busbw = busbw;
  row.out_of_place.seconds = row.in_place.seconds = seconds;
  return row;
}

Limits bandwidth(std::size_t bytes, double gb_per_s) {
  Limits limits;
  limits.min_busbw = {{bytes, gb_per_s}};
  return limits;
}
Limits longest(std::size_t bytes, double us) {
  Limits limits;
  limits.max_time = {{bytes, us}};
  return limits;
}
Limits both(std::size_t bytes, double gb_per_s, double us) {
  Limits limits = bandwidth(bytes, gb_per_s);
  limits.max_time = {{bytes, us}};
  return limits;
}

// Of both placements.
std::vector<LimitFinding> found(const Limits& limits, const Row& row, std::size_t requested) {
  std::vector<LimitFinding> all = held_to(limits, row, false, requested);
  for (const LimitFinding& more : held_to(limits, row, true, requested)) all.push_back(more);
  return all;
}
std::vector<LimitVerdict> verdicts(const std::vector<LimitFinding>& findings) {
  std::vector<LimitVerdict> all;
  for (const LimitFinding& one : findings) all.push_back(one.verdict);
  return all;
}

TEST(Limits, AValueThatIsExactlyTheLimitIsAllowed) {
  EXPECT_THAT(verdicts(found(both(1024, 2.0, 500), row(2.0, 500e-6), 1024)),
              ElementsAre(kept, kept, kept, kept));
}

TEST(Limits, EveryPlacementAndEveryLimitOfTheSizeCounts) {
  Limits limits = both(1024, 2.0, 500);
  limits.min_busbw.push_back({1024, 1.0});
  limits.min_busbw.push_back({8, 9});
  Row slow = row(1.5, 1e-6);
  slow.in_place.seconds = 501e-6;
  EXPECT_THAT(
      limit_lines(found(limits, slow, 1024), missed),
      ElementsAre("too slow: 1024 B float sum out of place: busbw 1.5000 GB/s is below "
                  "--min-busbw 2",
                  "too slow: 1024 B float sum in place: busbw 1.5000 GB/s is below "
                  "--min-busbw 2",
                  "too slow: 1024 B float sum in place: 501.00 us is above --max-time 500"));
}

TEST(Limits, SmallBandwidthsKeepTheirDigits) {
  EXPECT_THAT(limit_lines(found(both(8, 0.001, 0), row(1.234e-6, 1e-3), 8), missed),
              Contains("too slow: 8 B float sum out of place: busbw 0.000001234 GB/s is below "
                       "--min-busbw 0.001"));
  EXPECT_EQ(digits_text(0.5), "0.5000");
  EXPECT_EQ(digits_text(0.01), "0.01000");
  EXPECT_EQ(digits_text(0), "0.0000");
  EXPECT_EQ(digits_text(-2.5), "-2.5000");
}

TEST(Limits, OfOnePlacementSayNothingOfTheOther) {
  Limits limits;
  limits.min_busbw = {{8, 2.0, Placements::out_of_place}};
  limits.max_time = {{8, 1, Placements::in_place}};
  const std::vector<LimitFinding> all = found(limits, row(1.5, 1), 8);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].row, "8 B float sum out of place");
  EXPECT_EQ(all[0].flag, "--min-busbw");
  EXPECT_EQ(all[1].row, "8 B float sum in place");
  EXPECT_EQ(all[1].flag, "--max-time");
}

// A time of 400 to 500 us with a busbw of 1.8 to 2.25 GB/s.
Row with_interval() {
  Row uncertain = row(2.0, 450e-6);
  uncertain.out_of_place.stream = StreamTimes{.low = 400e-6, .high = 500e-6};
  uncertain.in_place.stream = uncertain.out_of_place.stream;
  return uncertain;
}

TEST(Limits, AreMissedIfAllOfTheIntervalLiesBeyond) {
  const auto of = [](const Limits& limits) { return verdicts(found(limits, with_interval(), 8)); };
  EXPECT_THAT(of(longest(8, 399)), ElementsAre(missed, missed));
  EXPECT_THAT(of(bandwidth(8, 2.26)), ElementsAre(missed, missed));
  EXPECT_THAT(of(bandwidth(8, 1.79)), ElementsAre(kept, kept));
  EXPECT_THAT(of(longest(8, 501)), ElementsAre(kept, kept));
}

TEST(Limits, WithinTheIntervalAreNotDecided) {
  const std::vector<LimitFinding> all = held_to(both(8, 2.2, 401), with_interval(), false, 8);
  EXPECT_THAT(verdicts(all), ElementsAre(undecided, undecided));
  EXPECT_EQ(all[0].text,
            "not decided: 8 B float sum out of place: busbw 2.0000 GB/s, 1.8000 to 2.2500, is on "
            "both sides of --min-busbw 2.2");
  EXPECT_EQ(all[1].text,
            "not decided: 8 B float sum out of place: 450.00 us, 400.00 to 500.00, is on both "
            "sides of --max-time 401");
  EXPECT_DOUBLE_EQ(all[0].low.value(), 1.8);
  EXPECT_DOUBLE_EQ(all[0].high.value(), 2.25);
  EXPECT_EQ(all[1].limit, 401);
  EXPECT_DOUBLE_EQ(all[1].value.value(), 450);
  EXPECT_DOUBLE_EQ(all[1].low.value(), 400);
}

// Kept only if the interval keeps it; missed only if the fast calls miss it, too.
TEST(Limits, WhereRanksWaitForCpusAreMissedIfTheFastCallsMissThem) {
  Row row = with_interval();  // 450 us, 400 to 500
  row.out_of_place.stream->fast = 300e-6;
  constexpr JudgedBy rule = JudgedBy::fast;
  EXPECT_THAT(verdicts(held_to(longest(8, 501), row, false, 8, rule)), ElementsAre(kept));
  EXPECT_THAT(limit_lines(held_to(longest(8, 301), row, false, 8, rule), undecided),
              ElementsAre("not decided: 8 B float sum out of place: 450.00 us, 300.00 (10th "
                          "percentile) to 500.00, is on both sides of --max-time 301"));
  EXPECT_THAT(
      limit_lines(held_to(bandwidth(8, 2.9), row, false, 8, rule), undecided),
      ElementsAre(HasSubstr(" to 3.0000 (10th percentile), is on both sides of --min-busbw 2.9")));
  EXPECT_THAT(
      limit_lines(held_to(both(8, 3.1, 299), row, false, 8, rule), missed),
      ElementsAre(
          "too slow: 8 B float sum out of place: busbw 2.0000 GB/s is below --min-busbw 3.1",
          "too slow: 8 B float sum out of place: 450.00 us is above --max-time 299"));
  // The stamps of a rooted operation show its root's queue: their mean is its time.
  row.out_of_place.stream->mean = row.out_of_place.seconds;
  EXPECT_THAT(verdicts(held_to(longest(8, 399), row, false, 8, rule)), ElementsAre(missed));
}

TEST(Limits, RunsThatWaitForCpusAreComparedByTheFastCallsOfAWallClock) {
  RunInfo info;
  info.clock = "wall";
  EXPECT_EQ(judged_by(info), JudgedBy::interval);
  info.oversubscribed = true;
  EXPECT_EQ(judged_by(info), JudgedBy::fast);
  info.clock = "cpu";
  EXPECT_EQ(judged_by(info), JudgedBy::interval);
}

TEST(Limits, OtherSizesAreNotJudged) {
  EXPECT_THAT(found(both(1024, 2.0, 0), row(0, 1), 2048), IsEmpty());
}

TEST(Limits, TheLineNamesPairAndGroup) {
  Row slow = row(0, 1);
  slow.op.reset();
  slow.pair = {1, 2};
  EXPECT_EQ(held_to(longest(8, 0), slow, false, 8).at(0).text,
            "too slow: 8 B float pair 1:2 out of place: 1000000.00 us is above --max-time 0");
  slow.pair.reset();
  slow.group = 3;
  EXPECT_THAT(held_to(longest(8, 0), slow, true, 8).at(0).text, HasSubstr("float group 3 in"));
}

TEST(Limits, ASizeThatNoRowHasIsNamedWithItsFlag) {
  Limits limits = bandwidth(8, 1);
  limits.min_busbw.push_back({16, 1});
  limits.max_time = {{32, 1}};
  EXPECT_THAT(limit_lines(unmeasured(limits, {8}), missed),
              ElementsAre("not measured: 16 B, which --min-busbw names",
                          "not measured: 32 B, which --max-time names"));
  EXPECT_THAT(unmeasured(limits, {8, 16, 32}), IsEmpty());
}

// Of each row of the sweep the worst time of all cycles is judged, in either placement: memory stays as it is.
TEST(Limits, AnEndlessRunKeepsItsWorstTimes) {
  LimitJudge judge(longest(8, 5), true);
  judge.begin({});
  for (const double in_place_us : {2, 9, 3, 7}) {
    Row cycle = row(1, 4e-6);
    cycle.bytes = 8;
    cycle.in_place.seconds = in_place_us * 1e-6;
    judge.mark(cycle, 8);
    judge.add(cycle, 8);
  }
  const std::vector<LimitFinding> all = judge.judge({});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].verdict, kept);
  EXPECT_EQ(all[1].verdict, missed);
  EXPECT_THAT(all[1].text, HasSubstr("in place: 9.00 us is above --max-time 5"));
}

TEST(Limits, TheAverageHasNcclTestsSlack) {
  Limits limits;
  EXPECT_FALSE(held_to_average(limits, 1));
  limits.min_average_busbw = 10;
  EXPECT_EQ(held_to_average(limits, 9.0).value().verdict, kept);
  const LimitFinding below = held_to_average(limits, 8.99).value();
  EXPECT_EQ(below.verdict, missed);
  EXPECT_THAT(below.text, HasSubstr("8.99 GB/s, is below 0.9 x NCCL_TESTS_MIN_BW 10"));
}

}  // namespace
}  // namespace ccl_tests
