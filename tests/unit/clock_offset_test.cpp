// What messages there and back say of another machine's clock: by hand, and of clocks that drift.
#include "src/measure/clocks.hpp"

#include <gmock/gmock.h>

#include "src/measure/sample_criterion.hpp"
#include "tests/unit/noise.hpp"

namespace ccl_tests {
namespace {

using test::Noise;
using testing::ElementsAre;

TEST(ClockOffset, ByHand) {
  // The clock there is ahead by 100; the answers were read in the middle, early and late.
  const std::vector<RoundTrip> trips = {{10, 115, 20}, {30, 131, 34}, {40, 148, 49}};
  const ClockOffset offset = clock_offset(trips);
  EXPECT_EQ(offset.low, 99);    // of the third
  EXPECT_EQ(offset.high, 101);  // of the second
  EXPECT_EQ(offset.value(), 100);
  EXPECT_EQ(offset.error(), 1);
  EXPECT_EQ(offset.at, 29.5);
}

TEST(ClockOffset, ErrorIsHalfOfTheFastestRoundTripAtMost) {
  const std::vector<RoundTrip> trips = {{0, 1007, 8}, {10, 1012, 13}};
  EXPECT_LE(clock_offset(trips).error(), 1.5);
}

TEST(ClockOffset, ClocksThatDriftApartWithinTheTripsGiveNoNegativeError) {
  const std::vector<RoundTrip> trips = {{0, 100, 1}, {10, 115, 11}};
  EXPECT_GT(clock_offset(trips).error(), 0);
}

TEST(OneClock, SamplesMoveByWhatTheClocksWereAheadThen) {
  std::vector<Samples> ranks = {{{1, 1, 2}, {5, 5, 6}}, {{101, 101, 102}, {105, 105, 106}}};
  const ComparedClock same = {{0, 0, 0}, {10, 0, 0}};
  // Rank 1's clock is ahead of rank 0's by 100, and by 104 ten seconds later.
  const ComparedClock ahead = {{100, -100.5, -99.5}, {110, -104.25, -103.75}};
  EXPECT_EQ(onto_one_clock(ranks, std::vector{same, ahead}), 0.5);
  EXPECT_EQ(ranks[0][1].end, 6);
  EXPECT_NEAR(ranks[1][0].start, 101 - 100 - 0.4 * 1, 1e-12);
  EXPECT_NEAR(ranks[1][1].end, 106 - 100 - 0.4 * 6, 1e-12);
}

// The clock of rank 1 is ahead by an hour and gains 50 us a second; a message takes 5 us and more.
TEST(OneClock, BracketsOfClocksThatDriftHoldTheTruth) {
  constexpr double ahead_s = 3600, drift = 50e-6;
  const auto there = [&](double now) { return now + ahead_s + drift * now; };
  Noise messages({.median = 5e-6, .spread = 0.3}, 1);
  double now = 0;
  const auto compare = [&] {
    std::vector<RoundTrip> trips(16);
    for (RoundTrip& trip : trips) {
      trip.sent = there(now);
      now += messages.next();
      trip.there = now;
      now += messages.next();
      trip.received = there(now);
    }
    return clock_offset(trips);
  };
  ComparedClock clock = {.before = compare(), .after = {}};
  std::vector<Samples> ranks(2);
  std::vector<double> skews;
  Noise entries({.median = 20e-6, .spread = 0.2}, 2);
  for (int k = 0; k < 1000; ++k) {
    now += 1e-3;
    const double late = entries.next(), end = now + 200e-6;
    ranks[0].push_back({now, now, end});
    ranks[1].push_back({there(now + late), there(now + late), there(end)});
    skews.push_back(late);
  }
  clock.after = compare();
  const double error = onto_one_clock(ranks, std::vector{ComparedClock{}, clock});
  EXPECT_LT(error, 6e-6);
  const SampleBrackets found = brackets_of(ranks, std::vector{0, 1}, 1);
  for (std::size_t i = 0; i < skews.size(); ++i) ASSERT_NEAR(found.skew[i], skews[i], 2 * error);
  EXPECT_THAT(rank_order(ranks, std::vector{0, 1}, 2 * error).late_share,
              ElementsAre(0, testing::Gt(0.9)));
}

}  // namespace
}  // namespace ccl_tests
