#include "tools/acceptance/progress.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "src/options/values.hpp"
#include "tools/acceptance/report/writers.hpp"
#include "tools/acceptance/search/screen.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr double placements = 2;       // out of place and in place
constexpr double least_cell_s = 0.02;  // that the default precision takes (docs/METHOD.md, "Time")

Expected of_rows(double rows, double seconds) {
  return {rows * placements * std::min(least_cell_s, seconds), rows * placements * seconds};
}

Expected of_rates(const RatePlan& plan) {
  return of_rows(static_cast<double>(plan.programs.size() * plan.sizes.size()), plan.seconds);
}

// Three bandwidths of 2, 4, 8, ... and all hosts, in a stage's time for one.
Expected of_scaling(const Plan& plan, int hosts) {
  if (hosts < 3) return {};
  const int steps = std::bit_width(static_cast<unsigned>(hosts) - 1);  // log2, rounded up
  const Expected one = of_rows(1, plan.full.seconds);
  return {3 * steps * std::min(one.least, one.most / 3), steps * one.most};
}

std::string line(std::string_view stage, bool run, const std::string& what) {
  return fmt::format("{:<9} {}\n", stage, run ? what : "left out");
}

std::string rates_text(const RatePlan& plan) {
  const double most_s = of_rates(plan).most;
  return fmt::format("{} of {}; at most {} s of timed calls", fmt::join(plan.programs, ", "),
                     sizes_text(plan.sizes),
                     most_s < 1 ? fmt::format("{:.1g}", most_s) : fmt::format("{:.0f}", most_s));
}

std::string pairs_text(const PairsPlan& plan) {
  const std::string size =
      plan.bytes > 0 ? size_text(plan.bytes) : "64K to 64M, by the speed of the wires";
  std::string limit =
      fmt::format("{:.0f} % of what the wires say they carry", 100 * plan.efficiency);
  if (plan.min_bandwidth > 0) limit = rate_text(plan.min_bandwidth);
  return fmt::format(
      "messages of {}; finds hosts {:.0f} % slower{}; half of the pairs have to reach {}", size,
      100 * plan.slowdown, plan.links ? ", and links" : "", limit);
}

}  // namespace

Expected expected_rounds(const PairsPlan& plan, int hosts) {
  constexpr double least_of_few_hosts = 20;
  Expected rounds{static_cast<double>(fewest_rounds),
                  static_cast<double>(most_rounds + 2 * confirm_looks.back())};
  const auto all = static_cast<std::size_t>(hosts);
  if (all >= fewest_named && all < 2 * small_launch) rounds.least = least_of_few_hosts;
  if (plan.links && hosts > rounds.least) {  // every pair once, and what confirms a link
    rounds.most += hosts;
    rounds.least = hosts - 1;
  }
  return rounds;
}

std::vector<PlannedStage> planned_stages(const Plan& plan, int hosts, int ranks, bool rails) {
  std::vector<PlannedStage> stages;
  const auto add = [&](const char* name, bool runs, const Expected& takes) {
    if (runs) stages.push_back({name, takes});
  };
  constexpr Expected of_programs{1, 60};  // about 600 rows of a few verified calls
  add("sanity", plan.sanity, of_programs);
  add("node", plan.node.run && ranks > 1, of_rates(plan.node));
  const Expected rounds = expected_rounds(plan.pairs, hosts);
  const double round_s = 2 * plan.pairs.seconds;
  const Expected pairs{rounds.least * round_s, rounds.most * round_s};
  add("pairs", plan.pairs.run && hosts > 1, pairs);
  add("rails", rails, {(ranks - 1) * pairs.least, (ranks - 1) * pairs.most});
  add("full", plan.full.run, of_rates(plan.full));
  add("scaling", plan.scaling.run, of_scaling(plan, hosts));
  add("soak", plan.soak_s > 0, {plan.soak_s, plan.soak_s});
  add("rest", plan.full.run && hosts > 1, {0, of_rates(plan.full).most});
  return stages;
}

std::string expected_text(const Expected& seconds) {
  const auto text = [](double some) { return duration_text(std::round(some)); };
  if (seconds.most < 1) return "less than 1 s";
  if (seconds.most <= 1.2 * seconds.least) return text(seconds.most);
  if (seconds.least < 1) return "up to " + text(seconds.most);
  return fmt::format("{} to {}", text(seconds.least), text(seconds.most));
}

Progress::Progress(std::vector<PlannedStage> stages, double now_s)
    : to_come_(std::move(stages)), begun_s_(now_s), told_s_(now_s) {}

void Progress::begin(const std::string& stage, double now_s) {
  if (!running_.empty()) running_.back().own_s = spent_s(running_.back(), now_s);
  running_.push_back({.name = stage, .since_s = now_s});
}

void Progress::end(double now_s) {
  if (running_.empty()) return;
  const std::string name = running_.back().name;
  running_.pop_back();
  if (!running_.empty()) running_.back().since_s = now_s;
  std::erase_if(to_come_, [&](const PlannedStage& one) { return one.name == name; });
}

// Returns what a stage took, if it rests until it began to.
double Progress::spent_s(const Running& stage, double now_s) const {
  const bool rests = &stage != &running_.back();
  return stage.own_s + (rests ? 0 : now_s - stage.since_s);
}

std::optional<std::string> Progress::at(const Part& part, double now_s) {
  if (running_.empty()) return std::nullopt;
  running_.back().part = part;
  constexpr double least_s = 5, of_the_run = 0.1;
  if (now_s - told_s_ < std::max(least_s, of_the_run * (now_s - begun_s_))) return std::nullopt;
  told_s_ = now_s;
  std::string all = fmt::format("{:.0f}", part.most);
  if (part.done < part.least && part.least < part.most)
    all = fmt::format("{:.0f} to {}", part.least, all);
  else if (part.least < part.most)
    all = "at most " + all;
  return fmt::format("{} {:.0f} of {}, {}; left: {}", part.unit, part.done, all,
                     duration_text(spent_s(running_.back(), now_s)), expected_text(left(now_s)));
}

Expected Progress::left(double now_s) const {
  Expected all;
  for (const PlannedStage& stage : to_come_) {
    Expected one = stage.takes;
    const auto running = std::ranges::find(running_, stage.name, &Running::name);
    if (running != running_.end()) {
      const double spent = spent_s(*running, now_s);
      const Part& part = running->part;
      const double unit_s = part.done > 0 ? spent / part.done : 0;
      one = part.done > 0
                ? Expected{unit_s * (part.least - part.done), unit_s * (part.most - part.done)}
                : Expected{one.least - spent, one.most - spent};
    }
    all.least += std::max(0.0, one.least);
    all.most += std::max(0.0, one.most);
  }
  return all;
}

std::string plan_text(const Plan& plan) {
  std::string text = fmt::format("# plan {}\n", plan.name);
  text += line("hosts", true, fmt::format("have to be alike in {}", fmt::join(plan.same, ", ")));
  text +=
      line("sanity", plan.sanity, "every program on its types, at odd sizes, each call verified");
  text += line("node", plan.node.run, "inside each host, all at once: " + rates_text(plan.node));
  text += line("pairs", plan.pairs.run, pairs_text(plan.pairs));
  const bool never = !plan.pairs.rails.value_or(true);
  text += line("rails", plan.pairs.run && !never,
               fmt::format("the same between the other ranks of each host{}",
                           plan.pairs.rails ? "" : ", if ranks use GPUs"));
  text += line("full", plan.full.run, "all hosts: " + rates_text(plan.full));
  const std::size_t bytes = plan.scaling.bytes > 0 ? plan.scaling.bytes : plan.full.sizes.back();
  text += line(
      "scaling", plan.scaling.run,
      fmt::format("{} of {} on 2, 4, 8, ... hosts; at least {:.0f} % of two hosts' bus bandwidth",
                  plan.scaling.program, size_text(bytes), 100 * plan.scaling.min_efficiency));
  text += line("soak", plan.soak_s > 0, fmt::format("{:.0f} s, every call verified", plan.soak_s));
  text += line("rest", plan.pairs.run && plan.full.run, "if hosts are blamed: full without them");
  for (const RateLimit& limit : plan.limits) {
    text += fmt::format("limit     {}: {}:", limit.stage, limit.row());
    if (limit.min_busbw > 0) text += fmt::format(" at least {}", rate_text(limit.min_busbw));
    if (limit.warn_busbw > 0) text += fmt::format(" WARN below {}", rate_text(limit.warn_busbw));
    if (limit.max_time_s > 0) text += fmt::format(" at most {:g} s", limit.max_time_s);
    text += '\n';
  }
  if (!plan.interface.empty()) text += fmt::format("wire      all data over {}\n", plan.interface);
  constexpr std::size_t odd_sizes = 65539 * sizeof(double);  // of sanity, at most
  std::size_t largest = plan.sanity ? odd_sizes : 0;
  for (const RatePlan& stage : {plan.full, plan.node})
    if (stage.run) largest = std::max(largest, acceptance::largest(stage));
  if (plan.scaling.run) largest = std::max(largest, bytes);
  if (plan.pairs.run)
    largest = std::max(largest, plan.pairs.bytes > 0 ? plan.pairs.bytes : most_message_bytes);
  constexpr int hosts = 16, ranks = 2;
  const Expected all =
      Progress(planned_stages(plan, hosts, ranks, plan.pairs.rails.value_or(false)), 0).left(0);
  text +=
      fmt::format("time      {} on {} hosts{}; longer where ranks wait for CPUs\n",
                  expected_text(all), hosts, plan.sanity ? ", up to a minute of it sanity" : "");
  // A buffer to send and one to receive; of gathering programs `size` is the larger one.
  text += fmt::format("memory    about {} a rank, and what the library takes\n",
                      number_text({"memory", 2.0 * static_cast<double>(largest), "B"}));
  return text;
}

}  // namespace ccl_tests::acceptance
