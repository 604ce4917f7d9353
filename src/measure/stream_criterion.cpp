#include "src/measure/stream_criterion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ccl_tests {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Further blocks of a cell begin with so many untimed calls at least, after the exchange of
// messages.
constexpr std::size_t untimed_again = 10;
constexpr double most_untimed_of_cell_s = 10e-3;
// A cell lasts so long at least, so that it does not show one tick of the scheduler alone.
constexpr double least_span_s = 20e-3;
// A few values of longer calls must do.
constexpr double slow_call_s = 15e-3;
constexpr std::size_t least_values_slow = 6;
constexpr double probe_s = 2e-3;
// The most values of a block, each of which travels from every rank to rank 0.
constexpr std::size_t most_stamps = 512;
// The limit of a cell whose blocks are limited in calls (PrecisionGoal::most_calls): making each of
// them ready takes time that no budget counts.
constexpr std::size_t most_limited_blocks = 64;

// Returns how many values a cell needs if the interval of its n values is `ratio` times too wide
// (infinity: no interval yet). The width is proportional to 1 / sqrt(n).
double wanted_total(double n, double ratio) {
  if (!std::isfinite(ratio)) return 1.5 * n;
  return std::clamp(1.1 * n * ratio * ratio, 1.25 * n, 3 * n);
}

}  // namespace

std::vector<double> stamp_times(const std::vector<Samples>& ranks, std::span<const int> group,
                                Average average_of, std::size_t calls_per_stamp) {
  std::vector<double> times;
  if (group.empty() || ranks.empty()) return times;
  const std::size_t stamps = ranks[static_cast<std::size_t>(group.front())].size();
  const auto calls = static_cast<double>(calls_per_stamp);
  std::vector<double> of_ranks(group.size());
  for (std::size_t i = 0; i < stamps; ++i) {
    for (std::size_t r = 0; r < group.size(); ++r)
      of_ranks[r] = ranks[static_cast<std::size_t>(group[r])][i].seconds() / calls;
    times.push_back(average(average_of, of_ranks));
  }
  return times;
}

std::size_t PrecisionCriterion::least_values() const {
  return capped_iterations(call_s_ > slow_call_s ? least_values_slow : rules_.values, call_s_,
                           goal_.limit_s);
}

std::size_t PrecisionCriterion::first_values() const {
  const std::size_t least = least_values();
  const std::size_t most = std::max(least, rules_.most_at_first);
  return call_s_ > 0 ? std::clamp(static_cast<std::size_t>(probe_s / call_s_), least, most) : most;
}

// Returns the seconds that the timed calls may take.
double PrecisionCriterion::budget_s() const {
  return goal_.limit_s > 0 ? std::min(goal_.budget_s, goal_.limit_s) : goal_.budget_s;
}

// Returns the untimed calls that a block begins with; none of long calls, whose median does not
// show what the first ones take more. first: of the cell; later ones follow a few messages only.
std::size_t PrecisionCriterion::untimed(bool first) const {
  const std::size_t least = first ? least_untimed : untimed_again;
  const double most_s = std::min(most_untimed_of_cell_s, goal_.budget_s / 10);
  if (static_cast<double>(least) * call_s_ > most_s) return 0;
  return untimed_calls(call_s_, least, most_s);
}

// Returns whether measuring on is worth little: the interval is `ratio` times as wide as it should
// be, and will still be much too wide when the budget is spent.
bool PrecisionCriterion::hopeless(double ratio) const {
  constexpr double much_too_wide = 1.5;
  constexpr double least_share = 1.0 / 6;  // of the budget: earlier widths say little
  if (!goal_.gives_up || !std::isfinite(ratio)) return false;
  const double share = so_far.spent_s / budget_s();
  return share >= least_share && ratio * std::sqrt(share) > much_too_wide;
}

// Returns the plan with no more calls than the goal lets a block have, but at least one value.
BlockPlan PrecisionCriterion::limited(BlockPlan plan) const {
  const double call_s = values() == 0 ? call_s_ : std::max(call_s_, value_s() / calls());
  std::size_t most = goal_.most_calls;
  if (goal_.block_s > 0 && call_s > 0) {
    constexpr double practically_all = 1e12;
    const auto fitting =
        static_cast<std::size_t>(std::clamp(goal_.block_s / call_s, 1.0, practically_all));
    most = most > 0 ? std::min(fitting, most) : fitting;
  }
  if (most == 0) return plan;
  plan.untimed = std::min(plan.untimed, most / 2);
  plan.samples = std::clamp<std::size_t>((most - plan.untimed) / plan.calls, 1,
                                         std::max<std::size_t>(1, plan.samples));
  return plan;
}

// Returns how many values the next block has; 0: none, the cell is done.
std::size_t PrecisionCriterion::wanted() const {
  if (goal_.most_calls > 0 && blocks_ >= most_limited_blocks) return 0;
  const std::size_t have = values();
  const std::size_t least_left = least_values() - std::min(least_values(), have);
  if (value_s() <= 0) return least_left;
  const auto in = [&](double seconds) {
    const double values = std::ceil(std::max(0.0, seconds) / value_s());
    return static_cast<std::size_t>(std::min(values, 1e15));
  };
  std::size_t more = std::max(least_left, in(std::min(least_span_s, budget_s()) - so_far.spent_s));
  const double ratio = widest_ / goal_.precision;
  if (more == 0 && ratio > 1 && !hopeless(ratio)) {
    const auto n = static_cast<double>(have);
    more = std::min(static_cast<std::size_t>(std::ceil(wanted_total(n, ratio) - n)),
                    in(budget_s() - so_far.spent_s));
  }
  return std::min({more, most_stamps, rules_.most - std::min(rules_.most, have)});
}

Step PrecisionCriterion::next() const {
  if (phase_ == Phase::single_calls)
    return {.kind = Step::Kind::single_calls,
            .single = {std::max<std::size_t>(1, goal_.checked), goal_.checked}};
  const bool first = phase_ == Phase::calibration;
  const std::size_t more = first ? first_values() : wanted();
  if (more == 0) return {};
  BlockPlan plan = limited({.untimed = untimed(first),
                            .samples = more,
                            .calls = so_far.calls_per_stamp,
                            .blocking = rules_.blocking});
  plan.expected_s = call_s_ * static_cast<double>(plan.timed());
  return {.kind = Step::Kind::block, .block = plan};
}

void PrecisionCriterion::add(const Step& step, std::span<const Samples> ranks) {
  if (phase_ == Phase::single_calls) {
    call_s_ = longest_last(ranks);
    phase_ = Phase::calibration;
    return;
  }
  if (phase_ == Phase::calibration) {
    calibrate(ranks);
    const bool counts = so_far.calls_per_stamp == step.block.calls;
    if (counts || rules_.blocking == Blocking::stream) phase_ = Phase::values;
    if (!counts) {
      ++so_far.discarded_blocks;
      return;
    }
  }
  add_block(ranks);
}

// Sets how long a call takes, and how many calls a value has: the smallest power of two that takes
// long enough, at most a quarter of the calls that the goal lets a block have.
void PrecisionCriterion::calibrate(std::span<const Samples> ranks) {
  const std::vector<Samples> all(ranks.begin(), ranks.end());
  std::size_t& calls = so_far.calls_per_stamp;
  call_s_ = 0;
  for (const std::vector<int>& group : goal_.groups)
    call_s_ = std::max(
        call_s_, estimate(stamp_times(all, group, Average::max, calls), Statistic::median).value);
  constexpr std::size_t most = std::size_t{1} << 20;
  const std::size_t limit =
      goal_.most_calls > 0 ? std::max<std::size_t>(1, goal_.most_calls / 4) : most;
  while (call_s_ > 0 && 2 * calls <= limit && call_s_ * static_cast<double>(calls) < rules_.value_s)
    calls *= 2;
}

void PrecisionCriterion::add_block(std::span<const Samples> ranks) {
  ++blocks_;
  append(ranks);
  so_far.iterations = values() * so_far.calls_per_stamp;
  widest_ = 0;
  double group_s = 0;
  for (const std::vector<int>& group : goal_.groups) {
    const std::vector<double> times =
        stamp_times(so_far.samples, group, goal_.average, so_far.calls_per_stamp);
    widest_ = std::max(widest_, estimate(times, goal_.statistic).half_width().value_or(infinity));
    group_s = std::max(group_s, std::accumulate(times.begin(), times.end(), 0.0) * calls());
  }
  so_far.spent_s = spent(ranks, group_s);
}

StreamCriterion::StreamCriterion(const PrecisionGoal& goal)
    : PrecisionCriterion(
          goal, {.blocking = Blocking::stream,
                 .value_s = std::max(goal.clock_cost_s / clock_share, least_span_s / most_stamps),
                 .values = 20,
                 .most_at_first = 64,
                 .most = std::numeric_limits<std::size_t>::max()}) {}

}  // namespace ccl_tests
