#include "src/run/goals.hpp"

#include <algorithm>

#include "src/run/memory_limit.hpp"
#include "src/run/point.hpp"
#include "src/run/row.hpp"

namespace ccl_tests {
namespace {

std::size_t checked_calls(const Options& o, bool checks) {
  return checks ? static_cast<std::size_t>(o.check.calls) : 0;
}

// Of one placement's timed part.
double limit_s(const Options& o) {
  return o.measure.row_time_s / static_cast<double>(number_of(o.sweep.placements));
}

}  // namespace

BatchGoal batch_goal(const Options& o, bool checks, bool simulated, std::size_t most_calls) {
  BatchGoal goal;
  goal.iterations = static_cast<std::size_t>(o.measure.iterations);
  goal.aggregate = static_cast<std::size_t>(o.measure.aggregate);
  goal.blocking = static_cast<Blocking>(o.measure.blocking);
  const bool exact = o.measure.warmup_given || o.measure.graph_launches > 0 || simulated;
  if (exact) goal.warmup = static_cast<std::size_t>(o.measure.warmup);
  goal.checked = checked_calls(o, checks);
  goal.most_calls = most_calls;
  goal.limit_s = limit_s(o);
  goal.repeats = static_cast<std::size_t>(std::max(1, o.measure.graph_launches));
  return goal;
}

std::size_t most_calls(const Options& o, const Problem& p, const SlotRule& rule, bool checks) {
  std::size_t most = 0;
  for (int g = 0; g < p.point.groups->number(); ++g) {
    const Slots slots =
        row_slots(*p.collective, shape_of(p.point, o.spec, g), o.sweep.unalign, rule);
    const std::size_t calls = checks && o.check.all ? slots.count : calls_per_block(slots, rule);
    if (calls > 0) most = most == 0 ? calls : std::min(most, calls);
  }
  return most;
}

PrecisionGoal precision_goal(const Options& o, const Problem& problem, bool checks,
                             const StreamLimits& limits) {
  PrecisionGoal goal;
  goal.precision = o.measure.precision;
  goal.budget_s = limits.budget_s;
  goal.gives_up = o.measure.time_budget_s == 0;
  goal.clock_cost_s = limits.clock_cost_s;
  goal.limit_s = limit_s(o);
  goal.most_calls = limits.most_calls;
  goal.block_s = wait_limits(o, problem).block_s;
  goal.checked = checked_calls(o, checks);
  goal.average = static_cast<Average>(o.measure.average);
  goal.statistic = statistic_of(*problem.collective, limits.cpus_short);
  const RankGroups& groups = *problem.point.groups;
  for (int g = 0; g < groups.number(); ++g) goal.groups.push_back(groups.members(g));
  return goal;
}

}  // namespace ccl_tests
