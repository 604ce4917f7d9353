#include "src/measure/beside.hpp"

#include <algorithm>
#include <cmath>

#include "src/measure/estimate.hpp"
#include "src/measure/measurement.hpp"

namespace ccl_tests {
namespace {

constexpr double block_s = 20e-3;  // several slices of the scheduler, thousands of short calls

BlockPlan block_of(std::size_t calls) {
  constexpr std::size_t timed_for_untimed = 10;
  return {.untimed = 1 + calls / timed_for_untimed, .samples = 1, .calls = calls};
}

double call_seconds(const Samples& samples, std::size_t calls) {
  return samples.front().seconds() / static_cast<double>(calls);
}

double take_alone(std::size_t calls, Workload& workload, Barrier& barrier, const Clock& clock) {
  const BlockPlan plan = block_of(calls);
  workload.prepare(plan);
  const Samples samples = take_block(plan, workload, barrier, clock);
  workload.verify();
  return call_seconds(samples, calls);
}

double work_between(const Load& load, double from, double to) {
  return to > from ? (load.done_at(to) - load.done_at(from)) / (to - from) : 0;
}

// Returns the load's work of a second while all operations rest.
double take_load(double seconds, Barrier& barrier, Clock& clock, Load& load) {
  load.resume();
  barrier.wait();
  const double from = clock.now();
  clock.sleep_for(seconds);
  const double to = clock.now();
  load.pause();
  return work_between(load, from, to);
}

Ratio median_ratio(std::span<const double> rounds) {
  const Estimate found = estimate(rounds, Statistic::median);
  if (!found.has_interval()) return {found.value};
  return {found.value, found.low, found.high};
}

}  // namespace

double pieces_at(std::span<const double> stamps, double at) {
  const auto next = std::upper_bound(stamps.begin(), stamps.end(), at);
  if (next == stamps.begin()) return 0;
  const auto done = static_cast<double>(next - stamps.begin() - 1);
  if (next == stamps.end()) return done;
  const double begin = *(next - 1);
  return done + (at - begin) / (*next - begin);
}

std::size_t calls_of_block(double call_s, std::size_t most_calls) {
  constexpr double most = 1e6;  // of calls whose time is not known
  const double wanted = call_s > 0 ? std::clamp(std::ceil(block_s / call_s), 1.0, most) : 1;
  const auto calls = static_cast<std::size_t>(wanted);
  return most_calls > 0 ? std::min(calls, most_calls) : calls;
}

BesidePlan plan_beside(double alone_s, double both_s, std::size_t most_calls, double budget_s) {
  constexpr double least_rounds = 6, usual_rounds = 20, rounds_per_s = 5;
  BesidePlan plan;
  plan.alone_calls = calls_of_block(alone_s, most_calls);
  plan.both_calls = calls_of_block(both_s, plan.alone_calls);
  plan.load_s = block_s;
  const double round_s = 2 * (static_cast<double>(plan.alone_calls) * alone_s +
                              static_cast<double>(plan.both_calls) * both_s + plan.load_s);
  const double most_rounds = std::max(least_rounds, rounds_per_s * budget_s);
  const double rounds =
      budget_s == 0 ? usual_rounds : std::clamp(budget_s / round_s, least_rounds, most_rounds);
  plan.rounds = static_cast<std::size_t>(rounds);
  return plan;
}

double take_both(std::size_t calls, Workload& workload, Barrier& barrier, const Clock& clock,
                 Load& load, double& work_per_s) {
  const BlockPlan plan = block_of(calls);
  workload.prepare(plan);
  load.resume();
  const Samples samples = take_block(plan, workload, barrier, clock);
  barrier.wait();  // until then other ranks' calls run beside this rank's load
  load.pause();
  workload.verify();
  work_per_s = work_between(load, samples.front().start, samples.front().end);
  return call_seconds(samples, calls);
}

BesideRound take_round(const BesidePlan& plan, Workload& workload, Barrier& barrier, Clock& clock,
                       Load& load) {
  BesideRound round;
  const auto both = [&] {
    double work = 0;
    round.both_s += take_both(plan.both_calls, workload, barrier, clock, load, work) / 2;
    round.load_both += work / 2;
  };
  round.load_alone += take_load(plan.load_s, barrier, clock, load) / 2;
  round.alone_s += take_alone(plan.alone_calls, workload, barrier, clock) / 2;
  both();
  both();
  round.alone_s += take_alone(plan.alone_calls, workload, barrier, clock) / 2;
  round.load_alone += take_load(plan.load_s, barrier, clock, load) / 2;
  return round;
}

BesideRatios beside_ratios(const std::vector<std::vector<BesideRound>>& ranks,
                           std::span<const int> group, Average how) {
  std::vector<double> times, works, works_alone;
  const std::size_t rounds = ranks.at(static_cast<std::size_t>(group.front())).size();
  for (std::size_t k = 0; k < rounds; ++k) {
    std::vector<double> alone, both;
    double load_alone = 0, load_both = 0;
    for (const int rank : group) {
      const BesideRound& round = ranks.at(static_cast<std::size_t>(rank)).at(k);
      alone.push_back(round.alone_s);
      both.push_back(round.both_s);
      load_alone += round.load_alone;
      load_both += round.load_both;
    }
    const double alone_s = average(how, alone);
    if (alone_s <= 0 || load_alone <= 0) continue;
    times.push_back(average(how, both) / alone_s);
    works.push_back(load_both / load_alone);
    works_alone.push_back(load_alone);
  }
  if (times.empty()) return {};
  return {median_ratio(times), median_ratio(works), median(works_alone), times.size()};
}

}  // namespace ccl_tests
