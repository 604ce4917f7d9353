// -I: a time for every iteration of a row.
#include <gtest/gtest.h>

#include "src/backends/loopback.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

Options single_iterations(int ranks) {
  Options o = quick(ranks);
  o.measure.per_iteration = true;
  o.measure.iterations = 5;
  return o;
}

TEST(PerIteration, HasATimeForEachAndNoneUnasked) {
  for (const int ranks : {1, 3, 4}) {
    Options o = single_iterations(ranks);
    o.measure.aggregate = 2;
    o.measure.per_iteration_skip = 2;
    const Outcome outcome = run(collectives::all_reduce, o, LoopbackBackend());
    ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
    for (const Row& row : outcome.rows) {
      for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
        ASSERT_TRUE(cell->per_iteration);
        const IterationTimes& times = *cell->per_iteration;
        EXPECT_EQ(times.seconds.size(), 5U);
        EXPECT_EQ(times.skipped, 2);
        EXPECT_EQ(times.of.min, *std::min_element(times.seconds.begin() + 2, times.seconds.end()));
        EXPECT_EQ(times.of.max, *std::max_element(times.seconds.begin() + 2, times.seconds.end()));
        EXPECT_GT(times.of.min, 0);
      }
    }
  }
  const Outcome unasked = run(collectives::all_reduce, quick(3), LoopbackBackend());
  EXPECT_FALSE(unasked.rows.at(0).out_of_place.per_iteration);
}

TEST(PerIteration, TheLastCountsWhereFewerAreLeftThanAreSkipped) {
  Options o = single_iterations(3);
  o.sweep.sizes = {1 << 20};
  o.measure.row_time_s = 1e-6;  // one iteration
  o.measure.per_iteration_skip = 4;
  const Outcome outcome = run(collectives::all_reduce, o, LoopbackBackend());
  const IterationTimes& times = *outcome.rows.at(0).out_of_place.per_iteration;
  EXPECT_EQ(times.seconds.size(), 1U);
  EXPECT_EQ(times.skipped, 0);
  EXPECT_EQ(times.of.max, times.seconds[0]);
}

TEST(PerIteration, GraphsAreRefusedWhereThereAreNone) {
  Options o = quick(3);
  o.measure.graph_launches = 2;
  const Outcome outcome = run(collectives::all_reduce, o, LoopbackBackend());
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.text().find("this backend has no graphs"), std::string::npos);
}

}  // namespace
}  // namespace ccl_tests::test
