#include "src/measure/sample_criterion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/measure/statistics.hpp"

namespace ccl_tests {
namespace {

const Samples& of(const std::vector<Samples>& ranks, int rank) {
  return ranks[static_cast<std::size_t>(rank)];
}

std::size_t samples_of_group(const std::vector<Samples>& ranks, std::span<const int> group) {
  return ranks.empty() || group.empty() ? 0 : of(ranks, group.front()).size();
}

// One moment of sample i on every rank of the group.
std::vector<double> moments(const std::vector<Samples>& ranks, std::span<const int> group,
                            std::size_t i, double Sample::*moment) {
  std::vector<double> all;
  for (const int rank : group) all.push_back(of(ranks, rank)[i].*moment);
  return all;
}

// Counts the sample for the rank of the largest value, if no other is within tie_s of it.
void count_last(std::vector<double>& counts, const std::vector<double>& values, double tie_s) {
  const auto last = std::max_element(values.begin(), values.end());
  const auto near = [&](double value) { return value >= *last - tie_s; };
  if (std::count_if(values.begin(), values.end(), near) == 1)
    ++counts[static_cast<std::size_t>(last - values.begin())];
}

}  // namespace

std::vector<double> longest_durations(const std::vector<Samples>& ranks, std::span<const int> group,
                                      std::size_t calls) {
  std::vector<double> longest(samples_of_group(ranks, group));
  for (std::size_t i = 0; i < longest.size(); ++i) {
    for (const int rank : group)
      longest[i] = std::max(longest[i], of(ranks, rank)[i].seconds() / static_cast<double>(calls));
  }
  return longest;
}

SampleBrackets brackets_of(const std::vector<Samples>& ranks, std::span<const int> group,
                           std::size_t calls) {
  SampleBrackets brackets;
  const auto n = static_cast<double>(calls);
  for (std::size_t i = 0; i < samples_of_group(ranks, group); ++i) {
    const std::vector<double> entries = moments(ranks, group, i, &Sample::start);
    const std::vector<double> exits = moments(ranks, group, i, &Sample::end);
    const auto [first_in, last_in] = std::minmax_element(entries.begin(), entries.end());
    const double last_out = *std::max_element(exits.begin(), exits.end());
    brackets.low.push_back((last_out - *last_in) / n);
    brackets.high.push_back((last_out - *first_in) / n);
    brackets.skew.push_back(*last_in - *first_in);
  }
  return brackets;
}

RankOrder rank_order(const std::vector<Samples>& ranks, std::span<const int> group, double tie_s) {
  const std::size_t samples = samples_of_group(ranks, group);
  if (samples == 0) return {};
  RankOrder order{std::vector<double>(group.size()), std::vector<double>(group.size()), {}};
  std::vector<std::vector<double>> behind(group.size());
  for (std::size_t i = 0; i < samples; ++i) {
    const std::vector<double> entries = moments(ranks, group, i, &Sample::start);
    count_last(order.late_share, entries, tie_s);
    count_last(order.slow_share, moments(ranks, group, i, &Sample::end), tie_s);
    const double middle = median(entries);
    for (std::size_t r = 0; r < group.size(); ++r) behind[r].push_back(entries[r] - middle);
  }
  for (std::size_t r = 0; r < group.size(); ++r) {
    order.late_share[r] /= static_cast<double>(samples);
    order.slow_share[r] /= static_cast<double>(samples);
    order.late_s.push_back(median(std::move(behind[r])));
  }
  return order;
}

namespace {

constexpr std::size_t first_samples = 12;
constexpr std::size_t first_samples_slow = 6;  // of calls beyond slow_call_s
constexpr std::size_t most_samples = 4096;

}  // namespace

std::size_t SampleCriterion::least_samples() const {
  const std::size_t least = call_s_ > slow_call_s ? first_samples_slow : first_samples;
  return capped_iterations(least, call_s_, goal_.limit_s);
}

Step SampleCriterion::next() const {
  Step step;
  if (phase_ == Phase::single_calls) {
    step.kind = Step::Kind::single_calls;
    step.single = first_calls(goal_);
    return step;
  }
  const bool first = phase_ == Phase::calibration;
  const std::size_t more = first ? least_samples() : wanted();
  if (more == 0) return step;
  step.kind = Step::Kind::block;
  BlockPlan& plan = step.block;
  plan.blocking = Blocking::barrier_outside;
  plan.untimed = untimed_of_block(call_s_, first, goal_);
  plan.samples = more;
  plan.calls = calls_;
  plan = limited(plan, goal_, call_with_barrier_s());
  plan.expected_s = call_s_ * static_cast<double>(plan.timed());
  return step;
}

// A sample's seconds over its calls.
double SampleCriterion::call_with_barrier_s() const {
  if (taken() == 0) return call_s_;
  return std::max(call_s_, spent_s_ / static_cast<double>(taken() * calls_));
}

// Returns how many samples the next block has; 0: none, the cell is done.
std::size_t SampleCriterion::wanted() const {
  if (goal_.most_calls > 0 && blocks_ >= most_limited_blocks) return 0;
  const std::size_t have = taken();
  const std::size_t least = least_samples();
  const std::size_t least_left = have >= least ? 0 : least - have;
  const auto n = static_cast<double>(have);
  if (spent_s_ <= 0) return least_left;
  const double budget_s = budget_of(goal_);
  const auto in = [&](double seconds) {
    const double samples = std::ceil(std::max(0.0, seconds) * n / spent_s_);
    return static_cast<std::size_t>(std::min(samples, static_cast<double>(most_samples)));
  };
  std::size_t more = std::max(least_left, in(std::min(least_span_s, budget_s) - spent_s_));
  const double ratio = widest_ / goal_.precision;
  if (more == 0 && ratio > 1 && !hopeless(ratio, spent_s_, goal_)) {
    more = static_cast<std::size_t>(std::ceil(wanted_total(n, ratio) - n));
    more = std::min(more, in(budget_s - spent_s_));
  }
  return std::min({more, most_stamps, most_samples - std::min(most_samples, have)});
}

void SampleCriterion::add(const Step& step, std::span<const Samples> ranks) {
  if (phase_ == Phase::single_calls) {
    call_s_ = longest_last(ranks);
    phase_ = Phase::calibration;
  } else if (step.kind == Step::Kind::block && (phase_ == Phase::samples || calibrated(ranks))) {
    phase_ = Phase::samples;
    append(ranks);
  } else {
    ++discarded_;
  }
}

// Sets how long a call takes. Returns false if a sample must have more calls, and sets how many: the
// smallest power of two with which, by these samples, reading the clock costs little enough.
bool SampleCriterion::calibrated(std::span<const Samples> ranks) {
  const std::vector<Samples> all(ranks.begin(), ranks.end());
  call_s_ = 0;
  for (const std::vector<int>& group : goal_.groups)
    call_s_ = std::max(call_s_, middle(longest_durations(all, group, calls_), Statistic::median));
  const double least_s = goal_.clock_cost_s / clock_share;
  const std::size_t before = calls_;
  if (goal_.statistic != Statistic::mean) calls_ = calls_of_stamp(calls_, call_s_, least_s, goal_);
  return calls_ == before;
}

void SampleCriterion::append(std::span<const Samples> ranks) {
  ++blocks_;
  samples_.resize(ranks.size());
  double longest_s = 0;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].empty()) continue;
    longest_s = std::max(longest_s, ranks[r].back().end - ranks[r].front().start);
    samples_[r].insert(samples_[r].end(), ranks[r].begin(), ranks[r].end());
  }
  spent_s_ += longest_s;
  widest_ = 0;
  const Statistic statistic =  // no root runs ahead of a barrier
      goal_.statistic == Statistic::mean ? Statistic::median : goal_.statistic;
  for (const std::vector<int>& group : goal_.groups) {
    const Estimate found = estimate(longest_durations(samples_, group, calls_), statistic);
    widest_ =
        std::max(widest_, found.half_width().value_or(std::numeric_limits<double>::infinity()));
  }
}

}  // namespace ccl_tests
