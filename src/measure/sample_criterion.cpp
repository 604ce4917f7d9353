#include "src/measure/sample_criterion.hpp"

#include <algorithm>

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

PrecisionGoal of_samples(PrecisionGoal goal) {
  goal.average = Average::max;
  if (goal.statistic == Statistic::mean) goal.statistic = Statistic::median;  // no root runs ahead
  return goal;
}

}  // namespace

SampleCriterion::SampleCriterion(const PrecisionGoal& goal)
    : PrecisionCriterion(
          of_samples(goal),
          {.blocking = Blocking::barrier_outside,
           .value_s = goal.statistic == Statistic::mean ? 0 : goal.clock_cost_s / clock_share,
           .values = 12,
           .most_at_first = 0,
           .most = 4096}) {}

double SampleCriterion::value_s() const {
  return values() == 0 ? 0 : so_far.spent_s / static_cast<double>(values());
}

double SampleCriterion::spent(std::span<const Samples> block, double /*group_s*/) const {
  double longest_s = 0;
  for (const Samples& samples : block)
    if (!samples.empty())
      longest_s = std::max(longest_s, samples.back().end - samples.front().start);
  return so_far.spent_s + longest_s;
}

}  // namespace ccl_tests
