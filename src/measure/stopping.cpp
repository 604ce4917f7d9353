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

void BatchCriterion::add(const Step& step, std::span<const Samples> ranks) {
  ++steps_;
  if (step.kind == Step::Kind::block) {
    done_ += step.block.timed() / goal_.aggregate;
    append(ranks);
    return;
  }
  call_s_ = longest_last(ranks);
  const double iteration_s = call_s_ * static_cast<double>(goal_.aggregate * goal_.repeats);
  so_far.iterations = capped_iterations(goal_.iterations, iteration_s, goal_.limit_s);
}

BlockPlan BatchCriterion::block() const {
  BlockPlan plan;
  plan.blocking = goal_.blocking;
  if (!goal_.warmup)
    plan.untimed =
        whole_iterations(untimed_calls(call_s_, least_untimed, most_untimed_s), goal_.aggregate);
  const bool sample_each = goal_.blocking == Blocking::barrier_outside;
  plan.samples = sample_each ? so_far.iterations : 1;
  plan.calls = goal_.aggregate * (sample_each ? 1 : so_far.iterations);
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
