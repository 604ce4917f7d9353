#include "tools/acceptance/plan/plan_text.hpp"
#include "src/options/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/acceptance/progress.hpp"
#include "tools/acceptance/report/words.hpp"
#include "tools/acceptance/stages/rates.hpp"

namespace ccl_tests::acceptance {
namespace {

std::string line(std::string_view stage, bool run, const std::string& what) {
  return fmt::format("{:<9} {}\n", stage, run ? what : "left out");
}

std::string sizes_of(const RatePlan& plan) {
  std::vector<std::string> sizes;
  for (const std::size_t bytes : plan.sizes) sizes.push_back(size_text(bytes));
  return fmt::format("{}", fmt::join(sizes, ", "));
}

// Two placements for each row.
double most_seconds(const RatePlan& plan) {
  constexpr double placements = 2;
  return placements * plan.seconds * static_cast<double>(plan.programs.size() * plan.sizes.size());
}

std::string rates_text(const RatePlan& plan) {
  const double most_s = most_seconds(plan);
  return fmt::format("{} of {}; at most {} s of timed calls", fmt::join(plan.programs, ", "),
                     sizes_of(plan),
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
  text += line("soak", plan.soak.seconds > 0,
               fmt::format("{:.0f} s, every call verified", plan.soak.seconds));
  text += line("rest", plan.pairs.run && plan.full.run, "if hosts are blamed: full without them");
  for (const RateLimit& limit : plan.limits) {
    text += fmt::format("limit     {}: {}{}:", limit.stage, limit.program,
                        limit.bytes > 0 ? ' ' + size_text(limit.bytes) : "");
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
  Expected all;
  for (const PlannedStage& stage :
       planned_stages(plan, hosts, ranks, plan.pairs.rails.value_or(false))) {
    all.least_s += stage.takes.least_s;
    all.most_s += stage.takes.most_s;
  }
  text +=
      fmt::format("time      {} on {} hosts{}; longer where ranks wait for CPUs\n",
                  expected_text(all), hosts, plan.sanity ? ", up to a minute of it sanity" : "");
  // A buffer to send and one to receive; of gathering programs `size` is the larger one.
  text += fmt::format("memory    about {} a rank, and what the library takes\n",
                      number_text({"memory", 2.0 * static_cast<double>(largest), "B"}));
  return text;
}

}  // namespace ccl_tests::acceptance
