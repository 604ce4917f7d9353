#include "src/measure/stopping.hpp"

#include <algorithm>
#include <cmath>

namespace ccl_tests {

std::size_t untimed_calls(double call_s, std::size_t least, double most_s) {
  if (call_s <= 0) return 0;
  const auto calls_in = [&](double seconds) {
    constexpr double rounding = 1e-9;
    return static_cast<std::size_t>(std::ceil(std::min(seconds / call_s, 1e6) - rounding));
  };
  return std::min(std::max(least, calls_in(least_untimed_s)), calls_in(most_s));
}

std::size_t capped_iterations(std::size_t wanted, double iteration_s, double limit_s) {
  if (limit_s <= 0 || iteration_s <= 0 || wanted <= 1) return wanted;
  const double fitting = limit_s / iteration_s;
  return fitting >= static_cast<double>(wanted)
             ? wanted
             : std::max<std::size_t>(1, static_cast<std::size_t>(fitting));
}

double longest_last(std::span<const Samples> ranks) {
  double longest = 0;
  for (const Samples& samples : ranks)
    if (!samples.empty()) longest = std::max(longest, samples.back().seconds());
  return longest;
}

void StoppingCriterion::append(std::span<const Samples> ranks) {
  so_far.samples.resize(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r)
    so_far.samples[r].insert(so_far.samples[r].end(), ranks[r].begin(), ranks[r].end());
}

namespace {

// A library may do what it is given as one by another algorithm, which connects at its first use.
std::size_t whole_iterations(std::size_t calls, std::size_t aggregate) {
  return (calls + aggregate - 1) / aggregate * aggregate;
}

}  // namespace

Step BatchCriterion::next() const {
  Step step;
  if (steps_ == 0) {
    step.kind = Step::Kind::single_calls;
    // At least one, so that the length of a call is known.
    step.single.calls = std::max<std::size_t>(1, goal_.warmup.value_or(1) + goal_.checked);
    step.single.checked = goal_.most_calls > 0 ? step.single.calls : goal_.checked;
  } else if (done_ < so_far.iterations) {
    step.kind = Step::Kind::block;
    step.block = block();
  }
  return step;
}

bool BatchCriterion::tries() const {
  constexpr std::size_t many = 4;  // trials
  return !tried_ && done_ == 0 && goal_.trial > 0 && so_far.iterations > many * goal_.trial;
}

void BatchCriterion::add(const Step& step, std::span<const Samples> ranks) {
  ++steps_;
  const auto calls = static_cast<double>(goal_.aggregate * goal_.repeats);  // of an iteration
  if (step.kind != Step::Kind::block) {
    call_s_ = longest_last(ranks);
    so_far.iterations = capped_iterations(goal_.iterations, call_s_ * calls, goal_.limit_s);
    return;
  }
  double block_s = 0;
  for (const Samples& one : ranks)
    if (!one.empty()) block_s = std::max(block_s, one.back().end - one.front().start);
  const bool counts = !tries() || goal_.warmup;
  const std::size_t iterations = step.block.timed() / goal_.aggregate;
  tried_ = true;
  call_s_ = block_s / (static_cast<double>(iterations) * calls);
  if (counts) {
    done_ += iterations;
    spent_s_ += block_s;
    append(ranks);
  }
  if (goal_.limit_s <= 0) return;
  const double left_s = goal_.limit_s - spent_s_;
  const std::size_t wanted = so_far.iterations - done_;
  so_far.iterations = done_;
  if (left_s > 0) so_far.iterations += capped_iterations(wanted, call_s_ * calls, left_s);
}

BlockPlan BatchCriterion::block() const {
  BlockPlan plan;
  plan.blocking = goal_.blocking;
  if (!goal_.warmup)
    plan.untimed =
        whole_iterations(untimed_calls(call_s_, least_untimed, most_untimed_s), goal_.aggregate);
  const bool sample_each = goal_.blocking == Blocking::barrier_outside;
  const std::size_t iterations = tries() ? goal_.trial : so_far.iterations - done_;
  if (tries())
    plan.untimed = std::min(plan.untimed, whole_iterations(least_untimed, goal_.aggregate));
  plan.samples = sample_each ? iterations : 1;
  plan.calls = goal_.aggregate * (sample_each ? 1 : iterations);
  std::size_t repeats = goal_.repeats;
  if (goal_.most_calls > 0) {  // each call is verified, and timed alone
    plan.untimed = std::min(plan.untimed, goal_.most_calls / 2);
    plan.samples = std::min(so_far.iterations - done_, goal_.most_calls - plan.untimed);
    plan.calls = repeats = 1;
  }
  plan.expected_s = call_s_ * static_cast<double>(plan.timed() * repeats);
  return plan;
}

}  // namespace ccl_tests
