#include "tools/acceptance/stages/stages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "src/core/quote.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {
namespace {

// Bytes, and segments that TCP sends again on every busy network.
bool is_trouble(std::string_view name) {
  return !name.starts_with("sent ") && !name.starts_with("received ") && name != "retransmits";
}

constexpr double counted_at_least = 0.5;  // of the bytes, or the data took a way that nobody counts
constexpr std::string_view sent_by = "sent ";

std::string gigabytes(double bytes) { return fmt::format("{:.3g} GB", bytes / 1e9); }

bool is_of(const std::string& wire, const std::string& interface) {
  return wire == interface || wire.starts_with(interface + '/');
}

// Returns whether every host counts what the interface sends. Some drivers leave its counter empty.
bool is_counted(const std::vector<Counters>& counted, const std::string& interface) {
  return std::ranges::all_of(counted, [&](const Counters& host) {
    return std::ranges::any_of(host, [&](const auto& counter) {
      const std::string& name = counter.first;
      return name.starts_with(sent_by) && is_of(name.substr(sent_by.size()), interface);
    });
  });
}

// The bytes of all hosts by their wires; not those that stay on the host.
struct Split {
  double all = 0, on_it = 0, most = 0;
  std::string busiest = {};
};

Split split(const std::vector<Counters>& counted, const std::string& interface) {
  std::map<std::string, double> bytes;
  for (const Counters& host : counted)
    for (const auto& [name, value] : host)
      if (name.starts_with(sent_by) && name != "sent lo")
        bytes[name.substr(sent_by.size())] += static_cast<double>(value);
  Split found;
  for (const auto& [wire, value] : bytes) {
    found.all += value;
    if (is_of(wire, interface)) found.on_it += value;
    if (value > found.most) found.most = value, found.busiest = wire;
  }
  return found;
}

std::string busiest_text(const Split& found) {
  return fmt::format("{:.0f} % of {} over {}", 100 * found.most / found.all, gigabytes(found.all),
                     found.busiest);
}

// "mlx" of "mlx5_0/1": the ranks of a host may have a wire of this kind each.
std::string kind_of(const std::string& wire) {
  return wire.substr(0, wire.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
}

void judge(Check& check, const Split& found, const std::string& interface, bool right) {
  if (right)
    check.text = fmt::format("{} over {}", gigabytes(found.on_it), interface);
  else
    check.set(Verdict::fail, "WRONG_WIRE",
              fmt::format("{}, not {}", busiest_text(found), interface));
}

// Compares what hosts say of a fact. A host that says nothing counts as one that says so, unless `those_that_do`.
Check comparison(const Hosts& hosts, const std::vector<HostDescription>& descriptions,
                 const std::string& fact, bool those_that_do) {
  std::vector<std::pair<std::string, std::string>> said;  // the host and its value
  std::map<std::string, int> times;
  for (std::size_t h = 0; h < descriptions.size(); ++h) {
    const Facts& facts = descriptions[h].facts;
    const auto found = facts.find(fact);
    if (found == facts.end() && those_that_do) continue;
    said.emplace_back(hosts.all()[h].name, found == facts.end() ? "nothing" : found->second);
    ++times[said.back().second];
  }
  // Takes the first in the alphabet of equally many.
  const std::string most =
      std::ranges::max_element(times, {}, [](const auto& one) { return one.second; })->first;
  Check check{.id = "hosts/" + fact, .verdict = Verdict::pass, .reason = "OK"};
  std::vector<std::string> others;
  for (const auto& [host, value] : said) {
    if (value == most) continue;
    others.push_back(fmt::format("{} ({})", host, value));
    check.subject = "host " + host;
  }
  if (others.size() != 1) check.subject = "run";
  if (others.empty())
    check.text =
        fmt::format("{}: {} on {}", fact, most,
                    said.size() == 1 ? "the one host" : fmt::format("all {} hosts", said.size()));
  else
    check.set(
        Verdict::warn, "HOSTS_DIFFER",
        fmt::format("{}: {} on most hosts, but not on {}", fact, most, fmt::join(others, ", ")));
  return check;
}

// Returns the facts that a name of the plan stands for: itself, or with '*' at its end all that begin so.
std::set<std::string> facts_named(const std::string& name,
                                  const std::vector<HostDescription>& hosts) {
  std::set<std::string> names;
  const bool many = name.ends_with('*');
  const std::string begin = many ? name.substr(0, name.size() - 1) : name;
  for (const HostDescription& host : hosts)
    for (const auto& [fact, value] : host.facts)
      if (many ? fact.starts_with(begin) : fact == name) names.insert(fact);
  return names;
}

}  // namespace

void HostCount::go_on() { begin_ = hosts_.of_leaders(team_.counters()); }

void HostCount::pause() {
  const std::vector<Counters> now = hosts_.of_leaders(team_.counters());
  counts_.resize(now.size());
  for (std::size_t h = 0; h < now.size(); ++h)
    for (const auto& [name, value] : now[h])  // of one that was not known then, nothing is known
      if (const auto then = begin_[h].find(name); then != begin_[h].end())
        counts_[h][name] += value - std::min(value, then->second);
}

std::vector<Check> error_checks(std::string_view stage, const Hosts& hosts,
                                const std::vector<Counters>& counted) {
  std::vector<Check> checks;
  for (std::size_t h = 0; h < hosts.all().size(); ++h) {
    const std::string& name = hosts.all()[h].name;
    const auto check = [&](const char* kind, const char* reason) {
      return Check{.id = fmt::format("{}/{}/{}", stage, kind, name),
                   .subject = "host " + name,
                   .verdict = Verdict::warn,
                   .reason = reason};
    };
    Check wires = check("errors", "LINK_ERRORS"), gpus = check("gpus", "GPU_ERRORS");
    for (const auto& [counter, value] : counted.at(h)) {
      if (value == 0 || !is_trouble(counter)) continue;
      const bool of_gpu = counter.find(" gpu ") != std::string::npos;
      std::string& text = of_gpu ? gpus.text : wires.text;
      text += fmt::format("{}{} {}", text.empty() ? "counted during this stage: " : ", ", value,
                          counter);
      if (counter.starts_with("uncorrected memory errors")) gpus.verdict = Verdict::fail;
    }
    for (Check* one : {&wires, &gpus})
      if (!one->text.empty()) checks.push_back(std::move(*one));
  }
  return checks;
}

std::vector<Counters> counted_during(Context& context, std::string_view stage,
                                     const std::function<void()>& work) {
  HostCount count(context.team, context.hosts);
  work();
  count.pause();
  for (Check& check : error_checks(stage, context.hosts, count.counts()))
    context.journal.add(std::move(check));
  return count.counts();
}

Check wire_check(const std::vector<Counters>& counted, const std::string& interface,
                 std::uint64_t sent) {
  const Split found = split(counted, interface);
  Check check{.id = "pairs/wire",
              .verdict = Verdict::pass,
              .reason = "OK",
              .numbers = {{"sent", static_cast<double>(sent), "B"}, {"counted", found.all, "B"}}};
  const double expected = counted_at_least * static_cast<double>(sent);
  if (found.all <= 0 || found.all < expected) {
    check.set(interface.empty() ? Verdict::skipped : Verdict::inconclusive, "WIRE_NOT_KNOWN",
              fmt::format("{} were sent, but only {} went over wires that count",
                          gigabytes(static_cast<double>(sent)), gigabytes(found.all)));
  } else if (interface.empty()) {
    check.text = busiest_text(found);
  } else {
    judge(check, found, interface, found.on_it >= expected);
  }
  return check;
}

Check share_check(std::string_view stage, const std::vector<Counters>& counted,
                  const std::string& interface) {
  constexpr double least_bytes = 1e7, least_share = 0.5;
  const Split found = split(counted, interface);
  Check check{.id = fmt::format("{}/wire", stage),
              .verdict = Verdict::pass,
              .reason = "OK",
              .numbers = {{"counted", found.all, "B"}, {"on_it", found.on_it, "B"}}};
  if (interface.empty() || found.all < least_bytes) {
    check.set(Verdict::skipped, "WIRE_NOT_KNOWN",
              fmt::format("{} went over wires that count", gigabytes(found.all)));
  } else if (!is_counted(counted, interface)) {
    check.set(Verdict::skipped, "WIRE_NOT_KNOWN",
              fmt::format("{} does not count what it sends", interface));
  } else {
    const bool alike = kind_of(found.busiest) == kind_of(interface);
    judge(check, found, interface, alike || found.on_it >= least_share * found.all);
  }
  return check;
}

void compare_hosts(Context& context) {
  const Hosts& hosts = context.hosts;
  context.journal.begin_stage(
      "hosts", fmt::format("{}, {}: what differs between them", counted(hosts.all().size(), "host"),
                           counted(static_cast<std::size_t>(context.team.rank().ranks()), "rank")));
  const auto descriptions = hosts.of_leaders(context.team.descriptions());
  for (std::size_t h = 0; h < descriptions.size(); ++h)
    context.journal.describe_host(h, descriptions[h].facts);
  for (const std::string& name : context.plan.same) {
    const std::set<std::string> names = facts_named(name, descriptions);
    if (names.empty() && context.plan.same_given)
      context.journal.add("hosts/" + name, Verdict::inconclusive, "FACT_NOT_KNOWN",
                          fmt::format("no host tells the plan's {}", quote(name)));
    for (const std::string& fact : names)
      context.journal.add(comparison(hosts, descriptions, fact, name.ends_with('*')));
  }
  for (std::size_t h = 0; h < descriptions.size(); ++h) {
    const std::string& name = hosts.all()[h].name;
    if (const auto& wires = descriptions[h].throttled_wires; !wires.empty())
      context.journal.add("hosts/wires/" + name, Verdict::warn, "PCI_LIMITS",
                          fmt::format("{}", fmt::join(wires, "; ")), "host " + name);
  }
  context.journal.end_stage();
}

}  // namespace ccl_tests::acceptance
