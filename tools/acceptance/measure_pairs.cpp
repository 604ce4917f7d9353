// Messages between hosts: which host or link is slow, and does the wire carry what it says?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "src/core/error.hpp"
#include "src/measure/statistics.hpp"
#include "src/options/values.hpp"
#include "tools/acceptance/blame.hpp"
#include "tools/acceptance/facts.hpp"
#include "tools/acceptance/rates.hpp"
#include "tools/acceptance/report/words.hpp"
#include "tools/acceptance/stages.hpp"
#include "tools/acceptance/team_measurer.hpp"
#include "tools/acceptance/wires.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t pilot_bytes = 1 << 20;
constexpr std::size_t least_bytes = 64 << 10, most_bytes = 64 << 20;
constexpr double messages_wanted = 50;  // of which a 95th percentile says something

std::vector<int> all_hosts(const Hosts& hosts) {
  std::vector<int> all;
  for (int h = 0; h < hosts.number(); ++h) all.push_back(h);
  return all;
}

double median_seconds(const std::vector<PairTimes>& times) {
  std::vector<double> all;
  for (const PairTimes& pair : times)
    for (const Transfer& way : {pair.forward, pair.backward})
      if (way.seconds > 0) all.push_back(way.seconds);
  return all.empty() ? 0 : median(all);
}

// The power of two of which about 50 messages fit into the time of a direction.
std::size_t chosen_bytes(Context& context) {
  const PairsPlan& plan = context.plan.pairs;
  if (plan.bytes > 0) return plan.bytes;
  TeamMeasurer pilot(context.team, context.hosts, pilot_bytes, plan.seconds);
  const double message_s = median_seconds(pilot.measure(circle(context.hosts.number()).front()));
  if (message_s <= 0) return pilot_bytes;
  const double wanted = pilot_bytes / message_s * plan.seconds / messages_wanted;
  std::size_t bytes = least_bytes;
  while (bytes < most_bytes && 2.0 * static_cast<double>(bytes) <= wanted) bytes *= 2;
  return bytes;
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string slowdown_text(const Size& size) {
  return fmt::format("{} slower, 95 % interval {} to {}", percent(size.slowdown),
                     percent(std::max(0.0, size.low)), percent(size.high));
}

const char* way_words(Way way) {
  switch (way) {
    case Way::sending: return "sending";
    case Way::receiving: return "receiving";
    case Way::both: break;
  }
  return "sending and receiving";
}

std::vector<Number> numbers_of(const Size& size) {
  return {{"slowdown", size.slowdown}, {"slowdown_low", size.low}, {"slowdown_high", size.high}};
}

class PairChecks {
 public:
  PairChecks(Context& context, const Findings& findings, std::size_t bytes)
      : context_(context), findings_(findings), bytes_(bytes) {}

  void add() {
    for (const HostFinding& host : findings_.hosts) add_host(host);
    add_completeness();
    add_links();
    add_uplinks();
    add_rate();
  }

 private:
  // False: hosts were not compared, so that being like the others is no news.
  bool compares() const {
    return std::none_of(findings_.reasons.begin(), findings_.reasons.end(), [](Reason reason) {
      return reason == Reason::nothing_measured || reason == Reason::too_few_hosts ||
             reason == Reason::too_few_rounds || reason == Reason::too_many_suspects;
    });
  }

  void add_host(const HostFinding& host) {
    const std::string& name = context_.hosts[host.host].name;
    Check check{.id = "pairs/host/" + name, .subject = "host " + name};
    const auto says = [&](Verdict verdict, const char* reason, std::string text) {
      check.verdict = verdict;
      check.reason = reason;
      check.text = std::move(text);
    };
    const std::string how =
        host.intermittent
            ? fmt::format("some messages take long when {}: p95/p50 {}", way_words(host.slow_at),
                          slowdown_text(host.size))
            : fmt::format("{} when {}", slowdown_text(host.size), way_words(host.slow_at));
    switch (host.verdict) {
      case HostVerdict::healthy:
        if (compares()) {
          says(Verdict::pass, "OK", "like the other hosts");
        } else {
          says(Verdict::skipped, "NOT_JUDGED", "nothing can be said of single hosts");
        }
        break;
      case HostVerdict::blamed:
        says(Verdict::fail, host.intermittent ? "INTERMITTENT_HOST" : "SLOW_HOST", how);
        break;
      case HostVerdict::slow_for_a_while:
        says(Verdict::warn, "SLOW_FOR_A_WHILE", how + ", and later no longer");
        break;
      case HostVerdict::open:
        says(Verdict::inconclusive, "UNDECIDED", "may be slow: the confirmations did not decide");
        break;
      case HostVerdict::gone: says(Verdict::fail, "HOST_LOST", "stopped to answer"); break;
    }
    if (host.verdict == HostVerdict::blamed || host.verdict == HostVerdict::slow_for_a_while)
      check.numbers = numbers_of(host.size);
    context_.journal.add(std::move(check));
  }

  void add_completeness() {
    Check check{.id = "pairs/hosts",
                .subject = "run",
                .verdict = Verdict::pass,
                .reason = "OK",
                .text = fmt::format("{} rounds of {}; a host {} slower, {} in one direction, "
                                    "would have been seen{}",
                                    findings_.rounds, size_text(bytes_),
                                    percent(findings_.detectable.both_ways),
                                    percent(findings_.detectable.one_way),
                                    findings_.looked_for_intermittent
                                        ? ""
                                        : "; faults of single messages were not looked for"),
                .numbers = {{"rounds", static_cast<double>(findings_.rounds)},
                            {"sigma", findings_.sigma},
                            {"detectable", findings_.detectable.both_ways},
                            {"detectable_one_way", findings_.detectable.one_way},
                            {"message", static_cast<double>(bytes_), "B"}}};
    if (!findings_.reasons.empty()) {
      std::vector<std::string> reasons;
      for (const Reason reason : findings_.reasons) reasons.emplace_back(text(reason));
      check.verdict = Verdict::inconclusive;
      check.reason =
          findings_.reasons.front() == Reason::too_few_hosts ? "TOO_FEW_HOSTS" : "HOSTS_NOT_JUDGED";
      check.text = fmt::format("{}", fmt::join(reasons, "; "));
    }
    context_.journal.add(std::move(check));
  }

  void add_links() {
    for (const LinkFinding& link : findings_.links) {
      const std::string name =
          fmt::format("{}{}{}", context_.hosts[link.hosts.a].name, link.one_way ? "->" : "-",
                      context_.hosts[link.hosts.b].name);
      context_.journal.add({.id = "pairs/link/" + name,
                            .subject = "link " + name,
                            .verdict = Verdict::fail,
                            .reason = "SLOW_LINK",
                            .text = slowdown_text(link.size) + ", though its hosts are not",
                            .numbers = numbers_of(link.size)});
    }
    Check check{.id = "pairs/links",
                .subject = "run",
                .numbers = {{"pairs_seen", static_cast<double>(findings_.pairs_seen)},
                            {"pairs", static_cast<double>(findings_.pairs)}}};
    const std::string seen =
        fmt::format("{} of {} measured", findings_.pairs_seen, counted(findings_.pairs, "link"));
    switch (findings_.link_verdict) {
      case LinkVerdict::skipped:
        check.reason = "LINKS_NOT_JUDGED";
        check.text = context_.plan.pairs.links ? seen + ": links cannot be judged"
                                               : "links were not asked for";
        if (context_.plan.pairs.links) check.verdict = Verdict::inconclusive;
        break;
      case LinkVerdict::nothing_found:
        check.verdict = Verdict::pass;
        check.reason = "OK";
        check.text = seen + ": no link stands out";
        break;
      case LinkVerdict::found: return;
      case LinkVerdict::open:
        check.verdict = Verdict::inconclusive;
        check.reason = "UNDECIDED";
        check.text = seen + ": one may be slow, and the confirmations did not decide";
        break;
    }
    context_.journal.add(std::move(check));
  }

  void add_uplinks() {
    for (const UplinkFinding& uplink : findings_.uplinks)
      context_.journal.add({.id = fmt::format("pairs/rack/{}", uplink.rack),
                            .subject = fmt::format("rack {}", uplink.rack),
                            .verdict = Verdict::fail,
                            .reason = "SLOW_UPLINK",
                            .text = "its uplink is " + slowdown_text(uplink.size),
                            .numbers = numbers_of(uplink.size)});
    const std::vector<int> rack_of = racks_of(context_.plan, context_.hosts);
    if (rack_of.empty()) return;
    const int racks = 1 + *std::max_element(rack_of.begin(), rack_of.end());
    if (racks >= static_cast<int>(fewest_for_uplinks)) return;
    context_.journal.add(
        {.id = "pairs/uplinks",
         .subject = "run",
         .verdict = Verdict::skipped,
         .reason = "NOT_JUDGED",
         .text = fmt::format("the racks' uplinks are compared from {} racks on, here are {}",
                             fewest_for_uplinks, racks)});
  }

  // All hosts may be slow alike: only what the wire can carry, or the plan, knows that.
  void add_rate() {
    const PairsPlan& plan = context_.plan.pairs;
    const double reached =
        findings_.median_seconds > 0 ? static_cast<double>(bytes_) / findings_.median_seconds : 0;
    const double wire = slowest_wire(context_.team, context_.hosts, context_.plan.interface);
    const bool given = plan.min_bandwidth > 0;
    const double limit = given ? plan.min_bandwidth : plan.efficiency * wire;
    Check check{.id = "pairs/rate",
                .subject = "run",
                .numbers = {{"bandwidth", reached, "B/s"}, {"limit", limit, "B/s"}}};
    if (reached <= 0) {
      check.verdict = Verdict::inconclusive;
      check.reason = "NOT_MEASURED";
      check.text = "there is no time";
    } else if (limit <= 0) {
      check.reason = "NO_CEILING";
      check.text = fmt::format("{} between hosts; nothing says what the wires can carry",
                               rate_text(reached));
    } else {
      const std::string whose =
          given ? "of the plan" : fmt::format("{} of the wire", percent(plan.efficiency));
      // One stream of messages may not fill a wire: only a limit that somebody gave fails.
      check.verdict = reached >= limit ? Verdict::pass
                      : given          ? Verdict::fail
                                       : Verdict::inconclusive;
      check.reason = reached >= limit ? "OK" : given ? "ALL_SLOW" : "BELOW_WIRE";
      check.text = fmt::format("half of the pairs reach {}, the limit is {} ({})",
                               rate_text(reached), rate_text(limit), whose);
    }
    context_.journal.add(std::move(check));
  }

  Context& context_;
  const Findings& findings_;
  std::size_t bytes_;
};

}  // namespace

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
  context.journal.begin_stage(
      "pairs",
      fmt::format("messages between {}, to find those that are {} slower",
                  one ? "hosts" : counted(hosts.all().size(), "host"), percent(plan.slowdown)));
  if (one) {
    context.journal.add({.id = "pairs/hosts",
                         .subject = "run",
                         .verdict = Verdict::skipped,
                         .reason = "ONE_HOST",
                         .text = "there is one host"});
    context.journal.end_stage();
    later();
    return;
  }
  const std::size_t bytes = chosen_bytes(context);
  WireCount count(context.team, hosts);
  TeamMeasurer measurer(context.team, hosts, bytes, plan.seconds);
  SearchPlan search;
  search.slowdown = plan.slowdown;
  search.seed = context.seed;
  search.links = plan.links;
  search.rack_of = racks_of(context.plan, hosts);
  bool looked_at_the_rest = false;  // only a host that is blamed is confirmed twice
  search.later = [&] {
    count.pause();
    later();
    looked_at_the_rest = true;
    count.go_on();
  };
  const Findings findings = find_bad_hosts(measurer, all_hosts(hosts), search);
  count.pause();
  PairChecks(context, findings, bytes).add();
  for (Check& check : count.checks(context.plan.interface, measurer.bytes_sent()))
    context.journal.add(std::move(check));
  context.journal.add(measurer.matrix());
  context.journal.end_stage();
  if (!looked_at_the_rest) later();
}

}  // namespace ccl_tests::acceptance
