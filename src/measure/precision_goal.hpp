// The goal of a cell that ends when its time is precise, and what follows for each block.
// Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "src/measure/estimate.hpp"
#include "src/measure/statistics.hpp"
#include "src/measure/workload.hpp"

namespace ccl_tests {

struct PrecisionGoal {
  double precision = 0.02;          // half of the interval's width over the value
  double budget_s = 0.3;            // of a cell's timed calls, if the precision is not reached
  bool gives_up = false;            // ends earlier if the budget will not be enough
  double clock_cost_s = 0;          // of one reading
  double limit_s = 0;               // fewer stamps if these would take longer; 0: never
  std::size_t checked = 1;          // single calls whose results are verified
  double block_s = 0;               // longest planned block, untimed calls included; 0: any
  std::size_t most_calls = 0;       // of a block, untimed ones included; 0: any number
  Average average = Average::mean;  // of the ranks' times of one stamp
  Statistic statistic = Statistic::median;    // mean: of rooted operations
  std::vector<std::vector<int>> groups = {};  // ranks of the groups that run at once, each a cell
};

// Returns the seconds that the timed calls of a cell may take.
double budget_of(const PrecisionGoal& goal);

// Returns how many stamps a cell needs if the interval of its n stamps is `ratio` times too wide
// (infinity: no interval yet). The width is proportional to 1 / sqrt(n).
double wanted_total(double n, double ratio);

// Returns the calls that a cell begins with: those that are checked, at least one.
SingleCalls first_calls(const PrecisionGoal& goal);

// Returns the untimed calls that a block begins with, if a call takes call_s seconds; none of long
// calls, whose median does not show what the first ones take more. first: of the cell; later ones
// follow a few messages only.
std::size_t untimed_of_block(double call_s, bool first, const PrecisionGoal& goal);

// Returns whether measuring on is worth little: the interval is `ratio` times as wide as it should be
// after spent_s seconds, and will still be much too wide when the budget is spent.
bool hopeless(double ratio, double spent_s, const PrecisionGoal& goal);

// Returns the plan with no more calls of call_s seconds than the goal lets a block have, but at least
// one stamp.
BlockPlan limited(BlockPlan plan, const PrecisionGoal& goal, double call_s);

// Returns the smallest power of two, from `calls` on, of calls of call_s seconds that take least_s; at
// most a quarter of the calls that the goal lets a block have.
std::size_t calls_of_stamp(std::size_t calls, double call_s, double least_s,
                           const PrecisionGoal& goal);

}  // namespace ccl_tests
