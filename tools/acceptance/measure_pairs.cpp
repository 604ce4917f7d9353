// Messages between hosts: which host or link is slow, and does the wire carry what it says?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "src/core/error.hpp"
#include "tools/acceptance/blame.hpp"
#include "tools/acceptance/counted.hpp"
#include "tools/acceptance/message_bytes.hpp"
#include "tools/acceptance/pair_checks.hpp"
#include "tools/acceptance/report/words.hpp"
#include "tools/acceptance/stages.hpp"
#include "tools/acceptance/team_measurer.hpp"
#include "tools/acceptance/told_measurer.hpp"
#include "tools/acceptance/wires.hpp"

namespace ccl_tests::acceptance {

std::vector<int> racks_of(const Plan& plan, const Hosts& hosts) {
  std::vector<int> racks;
  std::map<std::size_t, int> numbers, members;  // of the racks that the job has hosts of
  for (int h = 0; h < hosts.number() && !plan.racks.empty(); ++h) {
    for (std::size_t r = 0; r < plan.racks.size(); ++r) {
      const auto& names = plan.racks[r];
      if (std::find(names.begin(), names.end(), hosts[h].name) == names.end()) continue;
      const int next = static_cast<int>(numbers.size());
      racks.push_back(numbers.try_emplace(r, next).first->second);
      ++members[r];
    }
    if (racks.size() != static_cast<std::size_t>(h) + 1)
      throw UsageError(fmt::format(
          "racks: {} is in none, or in two; accepted: each host of the job in one", hosts[h].name));
  }
  for (const auto& [rack, number] : members)
    if (number < 2)
      throw UsageError(
          fmt::format("racks: the job has one host of {}; accepted: two or more, or no racks",
                      fmt::join(plan.racks[rack], ", ")));
  return racks;
}

void measure_pairs(Context& context, const std::function<void()>& later) {
  const PairsPlan& plan = context.plan.pairs;
  const Hosts& hosts = context.hosts;
  const bool one = hosts.number() < 2;
  context.journal.begin_stage("pairs",
                              fmt::format("messages between {}, to find those that are {} slower",
                                          one ? "hosts" : counted(hosts.all().size(), "host"),
                                          fmt::format("{:.0f} %", 100 * plan.slowdown)));
  if (one) {
    context.journal.add({.id = "pairs/hosts",
                         .subject = "run",
                         .verdict = Verdict::skipped,
                         .reason = "ONE_HOST",
                         .text = "there is one host"});
    context.journal.end_stage();
    return;
  }
  const MessageSizes sizes = message_sizes(context);
  HostCount count(context.team, hosts);
  TeamMeasurer measurer(context.team, hosts, sizes, plan.seconds);
  SearchPlan search;
  search.slowdown = plan.slowdown;
  search.seed = context.seed;
  search.links = plan.links;
  search.rack_of = racks_of(context.plan, hosts);
  search.later = [&] {
    count.pause();
    later();
    count.go_on();
  };
  double rounds = 0;
  ToldMeasurer told(measurer, context.journal, expected_rounds(plan, hosts.number()), rounds);
  const Findings findings = find_bad_hosts(told, hosts.everybody(), search);
  count.pause();
  add_pair_checks(context, findings, measurer.bytes());
  context.journal.add(wire_check(count.counted(), context.plan.interface, measurer.bytes_sent()));
  for (Check& check : error_checks("pairs", hosts, count.counted()))
    context.journal.add(std::move(check));
  context.journal.add(measurer.matrix());
  context.journal.end_stage();
}

}  // namespace ccl_tests::acceptance
