// What a cell is measured for, from the options of a run.

#include <gtest/gtest.h>

#include "collectives/collectives.hpp"
#include "src/measure/sample_criterion.hpp"
#include "src/run/point.hpp"
#include "tests/unit/criterion_cells.hpp"

namespace ccl_tests {
namespace {

// A row of 8 B on two ranks.
struct SmallRow {
  explicit SmallRow(const Options& o)
      : of(problem(collectives::all_reduce, {DataType::float32, ReduceOp::sum, 0, 8, &groups, 0},
                   o.spec, 0)) {}
  RankGroups groups{{{0, 1}}, 2};
  Problem of;
};

// Returns the longest that any block of a cell is planned to take, as a share of what the ranks wait
// for each other. The precision is out of reach, so that blocks become as long as they may.
template <class Criterion>
double longest_share(const Options& o, double call_s) {
  const SmallRow row(o);
  PrecisionGoal goal = precision_goal(o, row.of, true, false);
  goal.budget_s = o.measure.time_budget_s;
  const test::Cell<Criterion> cell(goal, {.median = call_s, .spread = 0.3});
  double longest = 0;
  for (const Step& step : cell.steps) {
    const auto calls = static_cast<double>(step.block.untimed + step.block.timed());
    longest = std::max(longest, calls * call_s);
  }
  return longest / wait_limits(o, row.of).exchange_s;
}

// Ranks that are done early wait for the others in an exchange.
TEST(Goals, BlocksEndLongBeforeOthersStopWaiting) {
  for (const double timeout_s : {1.0, 60.0}) {
    for (const double call_s : {timeout_s / 20, timeout_s / 5, 0.9 * timeout_s}) {
      Options o;
      o.job.timeout_s = timeout_s;
      o.measure.row_time_s = 0;
      o.measure.precision = 1e-4;
      o.measure.time_budget_s = 100 * timeout_s;
      EXPECT_LE(longest_share<StreamCriterion>(o, call_s), 0.5) << timeout_s << ' ' << call_s;
      EXPECT_LE(longest_share<SampleCriterion>(o, call_s), 0.5) << timeout_s << ' ' << call_s;
    }
  }
}

TEST(Goals, BlocksAreAsLongAsTheirStampsWithoutATimeout) {
  Options o;
  o.job.timeout_s = 0;
  EXPECT_EQ(precision_goal(o, SmallRow(o).of, true, false).block_s, 0);
}

// --row-time is of a row: of both placements, or of the one that is measured.
TEST(Goals, OnePlacementAloneHasTheRowsTime) {
  for (const auto placements : {Placements::both, Placements::out_of_place, Placements::in_place}) {
    Options o;
    o.measure.row_time_s = 4;
    o.sweep.placements = placements;
    const double limit_s = placements == Placements::both ? 2 : 4;
    EXPECT_EQ(precision_goal(o, SmallRow(o).of, true, false).limit_s, limit_s);
    EXPECT_EQ(batch_goal(o, true, false).limit_s, limit_s);
  }
}

}  // namespace
}  // namespace ccl_tests
