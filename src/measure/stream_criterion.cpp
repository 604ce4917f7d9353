#include "src/measure/stream_criterion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ccl_tests {
namespace {

constexpr std::size_t least_stamps_fast = 20;
constexpr std::size_t least_stamps_slow = 6;
constexpr std::size_t probe_stamps = 64;
constexpr double probe_s = 2e-3;

double sum(std::span<const double> values) {
  double all = 0;
  for (const double value : values) all += value;
  return all;
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

std::size_t StreamCriterion::least_stamps() const {
  const std::size_t least = call_s_ > slow_call_s ? least_stamps_slow : least_stamps_fast;
  return capped_iterations(least, call_s_, goal_.limit_s);
}

Step StreamCriterion::next() const {
  Step step;
  if (phase_ == Phase::single_calls) {
    step.kind = Step::Kind::single_calls;
    step.single = first_calls(goal_);
    return step;
  }
  if (phase_ == Phase::probe) {
    const auto fitting = static_cast<std::size_t>(call_s_ > 0 ? probe_s / call_s_ : probe_stamps);
    step.kind = Step::Kind::block;
    step.block = plan(std::clamp(fitting, least_stamps(), std::max(least_stamps(), probe_stamps)),
                      untimed_of_block(call_s_, true, goal_));
    return step;
  }
  const std::size_t more = wanted();
  if (more == 0) return step;
  step.kind = Step::Kind::block;
  step.block = plan(more, untimed_of_block(call_s_, false, goal_));
  return step;
}

BlockPlan StreamCriterion::plan(std::size_t samples, std::size_t untimed) const {
  BlockPlan plan;
  plan.blocking = Blocking::stream;
  plan.untimed = untimed;
  plan.samples = samples;
  plan.calls = calls_per_stamp_;
  plan = limited(plan, goal_, call_s_);
  plan.expected_s = call_s_ * static_cast<double>(plan.timed());
  return plan;
}

// Returns how many stamps the next block has; 0: none, the cell is done.
std::size_t StreamCriterion::wanted() const {
  if (goal_.most_calls > 0 && blocks_ >= most_limited_blocks) return 0;
  const double stamp_s = call_s_ * static_cast<double>(calls_per_stamp_);
  const std::size_t least = least_stamps();
  const double budget_s = budget_of(goal_);
  const std::size_t have = stamps();
  if (stamp_s <= 0) return have >= least ? 0 : least - have;
  const auto in = [&](double seconds) {
    return static_cast<std::size_t>(std::ceil(std::max(0.0, seconds) / stamp_s));
  };
  const std::size_t least_left = have >= least ? 0 : least - have;
  const std::size_t room = in(budget_s - spent_s_);
  std::size_t more = std::max(least_left, in(std::min(least_span_s, budget_s) - spent_s_));
  const double ratio = widest_ / goal_.precision;
  if (more == 0 && ratio > 1 && !hopeless(ratio, spent_s_, goal_)) {
    const auto n = static_cast<double>(have);
    more = static_cast<std::size_t>(std::ceil(wanted_total(n, ratio) - n));
    more = std::min(more, room);
  }
  return std::min(std::max(more, least_left), most_stamps);
}

void StreamCriterion::add(const Step& step, std::span<const Samples> ranks) {
  if (phase_ == Phase::single_calls) {
    call_s_ = longest_last(ranks);
    phase_ = Phase::probe;
    return;
  }
  if (phase_ == Phase::probe) {
    set_call_time(ranks);
    phase_ = Phase::stream;
    if (calls_per_stamp_ != step.block.calls) {
      discarded_ = 1;
      return;
    }
  }
  ++blocks_;
  samples_.resize(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r)
    samples_[r].insert(samples_[r].end(), ranks[r].begin(), ranks[r].end());
  widest_ = 0;
  spent_s_ = 0;
  for (const std::vector<int>& group : goal_.groups) {
    const std::vector<double> times = stamp_times(samples_, group, goal_.average, calls_per_stamp_);
    const Estimate found = estimate(times, goal_.statistic);
    widest_ =
        std::max(widest_, found.half_width().value_or(std::numeric_limits<double>::infinity()));
    spent_s_ = std::max(spent_s_, sum(times) * static_cast<double>(calls_per_stamp_));
  }
}

// From the probe's stamps of one call each.
void StreamCriterion::set_call_time(std::span<const Samples> ranks) {
  const std::vector<Samples> all(ranks.begin(), ranks.end());
  call_s_ = 0;
  for (const std::vector<int>& group : goal_.groups)
    call_s_ =
        std::max(call_s_, middle(stamp_times(all, group, Average::max, 1), Statistic::median));
  if (call_s_ <= 0) return;
  const double least_s = std::max(goal_.clock_cost_s / clock_share, least_span_s / most_stamps);
  calls_per_stamp_ = calls_of_stamp(calls_per_stamp_, call_s_, least_s, goal_);
}

}  // namespace ccl_tests
