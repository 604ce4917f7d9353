// The batch mode by a clock that only moves when it is told to.
#include <gtest/gtest.h>

#include <string>

#include "src/measure/batch.hpp"

namespace ccl_tests {
namespace {

// Issuing takes 1 s, waiting 10 s per operation under way, a barrier 100 s.
struct FakeRank {
  double clock = 5;
  std::string log;
  std::size_t under_way = 0;

  BatchTime run(int iterations, int aggregate, Blocking blocking) {
    return time_batch({iterations, aggregate, blocking},
                      {.issue =
                           [this](std::size_t k) {
                             log += std::to_string(k);
                             clock += 1;
                             ++under_way;
                           },
                       .wait =
                           [this] {
                             log += 'w';
                             clock += 10 * static_cast<double>(under_way);
                             under_way = 0;
                           },
                       .barrier =
                           [this] {
                             log += 'b';
                             clock += 100;
                           },
                       .now = [this] { return clock; }});
  }
};

TEST(Batch, IssuesEverythingThenWaitsOnce) {
  FakeRank rank;
  const BatchTime time = rank.run(4, 1, Blocking::none);
  EXPECT_EQ(rank.log, "b0123w");
  EXPECT_DOUBLE_EQ(time.issue, 1);
  EXPECT_DOUBLE_EQ(time.wall, 11);
}

TEST(Batch, CountsOperationsNotIterations) {
  FakeRank rank;
  const BatchTime time = rank.run(2, 3, Blocking::none);
  EXPECT_EQ(rank.log, "b012345w");
  EXPECT_DOUBLE_EQ(time.wall, 11);
}

TEST(Batch, BarrierInsideIsInTheTime) {
  FakeRank rank;
  const BatchTime time = rank.run(2, 1, Blocking::barrier_inside);
  EXPECT_EQ(rank.log, "b0wb1wbw");
  EXPECT_DOUBLE_EQ(time.wall, 111);
}

TEST(Batch, WaitFollowsEachOperation) {
  FakeRank rank;
  const BatchTime time = rank.run(1, 2, Blocking::wait);
  EXPECT_EQ(rank.log, "b0w1ww");
  EXPECT_DOUBLE_EQ(time.wall, 11);
}

TEST(Batch, BarrierOutsideIsNotInTheTime) {
  FakeRank rank;
  const BatchTime time = rank.run(2, 2, Blocking::barrier_outside);
  EXPECT_EQ(rank.log, "b01wb23wbw");
  EXPECT_DOUBLE_EQ(time.wall, 11);
}

TEST(Batch, NothingHappensWithoutIterations) {
  FakeRank rank;
  const BatchTime time = rank.run(0, 4, Blocking::barrier_inside);
  EXPECT_EQ(rank.log, "");
  EXPECT_EQ(time.wall, 0);
  EXPECT_EQ(time.issue, 0);
}

TEST(Batch, IterationsAreCappedByTheRowsTime) {
  EXPECT_EQ(capped_iterations(20, 0.1, 4), 20);
  EXPECT_EQ(capped_iterations(20, 0.5, 4), 8);
  EXPECT_EQ(capped_iterations(20, 100, 4), 1);
  EXPECT_EQ(capped_iterations(20, 100, 0), 20);
  EXPECT_EQ(capped_iterations(0, 100, 4), 0);
  EXPECT_EQ(capped_iterations(1, 100, 4), 1);
  EXPECT_EQ(capped_iterations(2'147'483'647, 1e-12, 4), 2'147'483'647);
  EXPECT_EQ(capped_iterations(20, 0, 4), 20);
}

TEST(Batch, AveragesOverRanks) {
  const double times[] = {3, 1, 8};
  EXPECT_EQ(average(Average::rank0, times, 3), 3);
  EXPECT_EQ(average(Average::mean, times, 3), 4);
  EXPECT_EQ(average(Average::min, times, 3), 1);
  EXPECT_EQ(average(Average::max, times, 3), 8);
  EXPECT_EQ(average(Average::mean, times, 1), 3);
}

}  // namespace
}  // namespace ccl_tests
