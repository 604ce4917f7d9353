#include "src/measure/precision_goal.hpp"

#include <algorithm>
#include <cmath>

#include "src/measure/stopping.hpp"

namespace ccl_tests {
namespace {

// Returns the most calls of a block; 0: any number.
std::size_t most_calls(const PrecisionGoal& goal, double call_s) {
  if (goal.block_s <= 0 || call_s <= 0) return goal.most_calls;
  constexpr double practically_all = 1e12;
  const double fitting = std::clamp(goal.block_s / call_s, 1.0, practically_all);
  const auto calls = static_cast<std::size_t>(fitting);
  return goal.most_calls > 0 ? std::min(calls, goal.most_calls) : calls;
}

}  // namespace

double budget_of(const PrecisionGoal& goal) {
  return goal.limit_s > 0 ? std::min(goal.budget_s, goal.limit_s) : goal.budget_s;
}

double wanted_total(double n, double ratio) {
  if (!std::isfinite(ratio)) return 1.5 * n;
  return std::clamp(1.1 * n * ratio * ratio, 1.25 * n, 3 * n);
}

SingleCalls first_calls(const PrecisionGoal& goal) {
  return {std::max<std::size_t>(1, goal.checked), goal.checked};
}

std::size_t untimed_of_block(double call_s, bool first, const PrecisionGoal& goal) {
  const std::size_t least = first ? least_untimed : untimed_again;
  const double most_s = std::min(most_untimed_of_cell_s, goal.budget_s / 10);
  if (static_cast<double>(least) * call_s > most_s) return 0;
  return untimed_calls(call_s, least, least_untimed_s, most_s);
}

bool hopeless(double ratio, double spent_s, const PrecisionGoal& goal) {
  constexpr double much_too_wide = 1.5;
  constexpr double least_share = 1.0 / 6;  // of the budget: earlier widths say little
  if (!goal.gives_up || !std::isfinite(ratio)) return false;
  const double share = spent_s / budget_of(goal);
  return share >= least_share && ratio * std::sqrt(share) > much_too_wide;
}

BlockPlan limited(BlockPlan plan, const PrecisionGoal& goal, double call_s) {
  const std::size_t most = most_calls(goal, call_s);
  if (most == 0) return plan;
  plan.untimed = std::min(plan.untimed, most / 2);
  plan.samples = std::clamp<std::size_t>((most - plan.untimed) / plan.calls, 1,
                                         std::max<std::size_t>(1, plan.samples));
  return plan;
}

std::size_t calls_of_stamp(std::size_t calls, double call_s, double least_s,
                           const PrecisionGoal& goal) {
  constexpr std::size_t most = std::size_t{1} << 20;
  const std::size_t limit =
      goal.most_calls > 0 ? std::max<std::size_t>(1, goal.most_calls / 4) : most;
  while (call_s > 0 && 2 * calls <= limit && call_s * static_cast<double>(calls) < least_s)
    calls *= 2;
  return calls;
}

}  // namespace ccl_tests
