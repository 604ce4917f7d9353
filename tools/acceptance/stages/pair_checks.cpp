// The findings of the search over pairs of hosts, as checks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "src/options/values.hpp"
#include "tools/acceptance/report/writers.hpp"
#include "tools/acceptance/stages/stages.hpp"

namespace ccl_tests::acceptance {
namespace {

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

// Without an interval that is narrower than what is shown of it.
std::string slowdown_text(const Size& size) {
  const std::string low = percent(std::max(0.0, size.low)), high = percent(size.high);
  const std::string text = percent(size.slowdown) + " slower";
  return low == high ? text : fmt::format("{}, 95 % interval {} to {}", text, low, high);
}

constexpr PerWay<std::string_view> way_words = {"sending", "receiving", "sending and receiving"};

std::vector<Number> numbers_of(const Size& size) {
  return {{"slowdown", size.slowdown}, {"slowdown_low", size.low}, {"slowdown_high", size.high}};
}

// Whose ranks sent the messages.
struct Senders {
  std::string id;     // that the ids of checks begin with
  std::string words;  // that texts begin with
  const char* slow;
  const char* intermittent;
};

class PairChecks {
 public:
  PairChecks(Context& context, const Findings& findings, std::size_t bytes, Senders senders)
      : context_(context), findings_(findings), bytes_(bytes), senders_(std::move(senders)) {}

  void add_hosts() {
    for (const HostFinding& host : findings_.hosts) add_host(host);
    add_completeness();
  }
  void add_all() {
    add_hosts();
    add_links();
    add_uplinks();
    add_rate();
  }

 private:
  // The plan says from which slowdown on a host fails. Below it: WARN.
  Verdict verdict_of(const Size& size) const {
    return size.high < context_.plan.pairs.slowdown ? Verdict::warn : Verdict::fail;
  }
  std::string less_than_asked(const Size& size) const {
    if (verdict_of(size) == Verdict::fail) return {};
    return fmt::format(", less than the plan's {}", percent(context_.plan.pairs.slowdown));
  }

  void add_host(const HostFinding& host) {
    const std::string& name = context_.hosts[host.host].name;
    Check check{.id = fmt::format("{}/host/{}", senders_.id, name), .subject = "host " + name};
    const auto says = [&](Verdict verdict, const char* reason, const std::string& text) {
      check.set(verdict, reason, senders_.words + text);
    };
    const std::string_view way = way_words[index(host.slow_at)];
    const std::string size = slowdown_text(host.size);
    const std::string how =
        host.intermittent ? fmt::format("some messages take long when {}: p95/p50 {}", way, size)
                          : fmt::format("{} when {}", size, way);
    const bool not_compared = std::ranges::any_of(findings_.reasons, [](Reason reason) {
      return reason == Reason::nothing_measured || reason == Reason::too_few_hosts ||
             reason == Reason::too_few_rounds || reason == Reason::too_many_suspects;
    });
    switch (host.verdict) {
      case HostVerdict::healthy:
        if (not_compared)
          says(Verdict::skipped, "NOT_JUDGED", "nothing can be said of single hosts");
        else
          says(Verdict::pass, "OK", "like the other hosts");
        break;
      case HostVerdict::blamed:
        says(verdict_of(host.size), host.intermittent ? senders_.intermittent : senders_.slow,
             how + less_than_asked(host.size));
        break;
      case HostVerdict::slow_for_a_while:
        says(Verdict::warn, "SLOW_FOR_A_WHILE", how + ", and later no longer");
        break;
      case HostVerdict::open:
        says(Verdict::inconclusive, "UNDECIDED", "may be slow: the confirmations did not decide");
        break;
      case HostVerdict::gone: says(Verdict::fail, "HOST_LOST", "stopped answering"); break;
    }
    if (host.verdict == HostVerdict::blamed || host.verdict == HostVerdict::slow_for_a_while)
      check.numbers = numbers_of(host.size);
    context_.journal.add(std::move(check));
  }

  void add_completeness() {
    Check check{.id = senders_.id + "/hosts",
                .verdict = Verdict::pass,
                .reason = "OK",
                .text = fmt::format("{}{} rounds of {}; a host {} slower, {} in one direction, "
                                    "would have been seen{}",
                                    senders_.words, findings_.rounds, size_text(bytes_),
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
      std::ranges::replace(
          reasons, text(Reason::too_noisy),
          fmt::format("noise: a host has to be {} slower to be seen, the plan asks for {}",
                      percent(findings_.detectable.both_ways),
                      percent(context_.plan.pairs.slowdown)));
      check.set(
          Verdict::inconclusive,
          findings_.reasons.front() == Reason::too_few_hosts ? "TOO_FEW_HOSTS" : "HOSTS_NOT_JUDGED",
          fmt::format("{}{}", senders_.words, fmt::join(reasons, "; ")));
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
                            .verdict = verdict_of(link.size),
                            .reason = "SLOW_LINK",
                            .text = slowdown_text(link.size) + ", though its hosts are not" +
                                    less_than_asked(link.size),
                            .numbers = numbers_of(link.size)});
    }
    if (findings_.link_verdict == LinkVerdict::found) return;
    Check check{.id = "pairs/links",
                .numbers = {{"pairs_seen", static_cast<double>(findings_.pairs_seen)},
                            {"pairs", static_cast<double>(findings_.pairs)}}};
    const std::string seen =
        fmt::format("{} of {} measured", findings_.pairs_seen, counted(findings_.pairs, "link"));
    if (findings_.link_verdict == LinkVerdict::nothing_found)
      check.set(Verdict::pass, "OK", seen + ": no link stands out");
    else if (findings_.link_verdict == LinkVerdict::open)
      check.set(Verdict::inconclusive, "UNDECIDED",
                seen + ": one may be slow, and the confirmations did not decide");
    else if (context_.plan.pairs.links)
      check.set(Verdict::inconclusive, "LINKS_NOT_JUDGED", seen + ": links cannot be judged");
    else
      check.set(Verdict::skipped, "LINKS_NOT_JUDGED", "links were not asked for");
    context_.journal.add(std::move(check));
  }

  void add_uplinks() {
    const std::vector<int> rack_of = racks_of(context_.plan, context_.hosts);
    for (const UplinkFinding& uplink : findings_.uplinks) {
      std::vector<std::string> members;
      for (int h = 0; h < context_.hosts.number(); ++h)
        if (rack_of.at(static_cast<std::size_t>(h)) == uplink.rack)
          members.push_back(context_.hosts[h].name);
      const std::string name =
          fmt::format("rack of {} and {} more", members.front(), members.size() - 1);
      context_.journal.add(
          {.id = "pairs/" + name,
           .subject = name,
           .verdict = verdict_of(uplink.size),
           .reason = "SLOW_UPLINK",
           .text = fmt::format("its uplink is {}{}; its hosts: {}", slowdown_text(uplink.size),
                               less_than_asked(uplink.size), fmt::join(members, ", ")),
           .numbers = numbers_of(uplink.size)});
    }
    if (rack_of.empty()) return;
    const int racks = 1 + *std::ranges::max_element(rack_of);
    if (racks >= static_cast<int>(fewest_for_uplinks)) return;
    context_.journal.add(
        "pairs/uplinks", Verdict::skipped, "NOT_JUDGED",
        fmt::format("the racks' uplinks are compared from {} racks on, here are {}",
                    fewest_for_uplinks, racks));
  }

  // All hosts may be slow alike: only what the wire can carry, or the plan, knows that.
  void add_rate() {
    const PairsPlan& plan = context_.plan.pairs;
    const double reached =
        findings_.median_seconds > 0 ? static_cast<double>(bytes_) / findings_.median_seconds : 0;
    const auto hosts =
        context_.hosts.of_leaders(context_.team.descriptions(context_.plan.interface));
    // The slowest wire counts; 0: some host does not say.
    const double wire = std::ranges::min_element(hosts, {}, &HostDescription::wire_rate)->wire_rate;
    const bool given = plan.min_bandwidth > 0;
    const double limit = given ? plan.min_bandwidth : plan.efficiency * wire;
    Check check{.id = "pairs/rate",
                .numbers = {{"bandwidth", reached, "B/s"}, {"limit", limit, "B/s"}}};
    if (reached <= 0) {
      check.set(Verdict::inconclusive, "NOT_MEASURED", "there is no time");
    } else if (limit <= 0) {
      check.set(Verdict::skipped, "NO_CEILING",
                fmt::format("{} between hosts; nothing says what the wires can carry",
                            rate_text(reached)));
    } else {
      const std::string text = fmt::format(
          "half of the pairs reach {}, the limit is {} ({})", rate_text(reached), rate_text(limit),
          given ? "as asked" : fmt::format("{} of the wire", percent(plan.efficiency)));
      // One stream of messages may not fill a wire: only a limit that somebody gave fails.
      if (reached >= limit)
        check.set(Verdict::pass, "OK", text);
      else if (given)
        check.set(Verdict::fail, "ALL_SLOW", text);
      else
        check.set(Verdict::inconclusive, "BELOW_WIRE", text);
    }
    context_.journal.add(std::move(check));
  }

  Context& context_;
  const Findings& findings_;
  std::size_t bytes_;
  Senders senders_;
};

}  // namespace

void add_pair_checks(Context& context, const Findings& findings, std::size_t bytes) {
  PairChecks(context, findings, bytes, {"pairs", "", "SLOW_HOST", "INTERMITTENT_HOST"}).add_all();
}

void add_rail_checks(Context& context, const Findings& findings, std::size_t bytes,
                     std::size_t rail) {
  PairChecks(context, findings, bytes,
             {fmt::format("rails/{}", rail), fmt::format("rail {}: ", rail), "SLOW_RAIL",
              "INTERMITTENT_RAIL"})
      .add_hosts();
}

}  // namespace ccl_tests::acceptance
