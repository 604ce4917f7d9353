#include "src/measure/stopping.hpp"

#include <algorithm>
#include <cmath>

namespace ccl_tests {

std::size_t capped_iterations(std::size_t wanted, double iteration_s, double limit_s) {
  if (limit_s <= 0 || iteration_s <= 0 || wanted <= 1) return wanted;
  const double fitting = limit_s / iteration_s;
  return fitting >= static_cast<double>(wanted)
             ? wanted
             : std::max<std::size_t>(1, static_cast<std::size_t>(fitting));
}

Step StoppingCriterion::next() const {
  Step step;
  if (steps_ == 0) {
    step.kind = Step::Kind::single_calls;
    // At least one, so that the length of a call is known.
    step.single.calls = std::max<std::size_t>(1, goal_.warmup.value_or(1) + goal_.checked);
    step.single.checked = goal_.checked;
  } else if (steps_ == 1 && goal_.iterations > 0) {
    step.kind = Step::Kind::block;
    step.block = block();
  }
  return step;
}

void StoppingCriterion::add(const Step& step, std::span<const Samples> ranks) {
  ++steps_;
  if (step.kind != Step::Kind::single_calls) return;
  for (const Samples& samples : ranks) {
    if (!samples.empty()) call_s_ = std::max(call_s_, samples.back().seconds());
  }
  const double iteration_s = call_s_ * static_cast<double>(goal_.aggregate * goal_.repeats);
  iterations_ = capped_iterations(goal_.iterations, iteration_s, goal_.limit_s);
}

BlockPlan StoppingCriterion::block() const {
  BlockPlan plan;
  plan.blocking = goal_.blocking;
  plan.untimed = untimed();
  const bool sample_each = goal_.blocking == Blocking::barrier_outside;
  plan.samples = sample_each ? iterations_ : 1;
  plan.calls = goal_.aggregate * (sample_each ? 1 : iterations_);
  plan.expected_s = call_s_ * static_cast<double>(plan.timed() * goal_.repeats);
  return plan;
}

std::size_t StoppingCriterion::untimed() const {
  if (goal_.warmup || call_s_ <= 0) return 0;
  const auto calls_in = [&](double seconds) {
    constexpr double rounding = 1e-9;
    return static_cast<std::size_t>(std::ceil(std::min(seconds / call_s_, 1e6) - rounding));
  };
  return std::min(std::max(least_untimed, calls_in(least_untimed_s)), calls_in(most_untimed_s));
}

}  // namespace ccl_tests
