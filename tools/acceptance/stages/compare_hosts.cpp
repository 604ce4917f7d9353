// Are the hosts alike in what the plan says has to be the same, and can their wires do what they say?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/core/quote.hpp"
#include "tools/acceptance/report/words.hpp"
#include "tools/acceptance/stages/stages.hpp"

namespace ccl_tests::acceptance {
namespace {

struct Said {
  std::string host, value;
};

// What hosts say of a fact. A host that says nothing counts as one that says so, unless `those_that_do`.
std::vector<Said> said(const Hosts& hosts, const std::vector<Facts>& facts, const std::string& fact,
                       bool those_that_do) {
  std::vector<Said> all;
  for (int h = 0; h < hosts.number(); ++h) {
    const Facts& of_host = facts[static_cast<std::size_t>(h)];
    const auto found = of_host.find(fact);
    if (found == of_host.end() && those_that_do) continue;
    all.push_back({hosts[h].name, found == of_host.end() ? "nothing" : found->second});
  }
  return all;
}

// What most say; of equally many the first in the alphabet.
std::string usual(const std::vector<Said>& all) {
  std::map<std::string, int> times;
  for (const Said& one : all) ++times[one.value];
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

Check comparison(const std::vector<Said>& all, const std::string& fact) {
  const std::string most = usual(all);
  Check check{.id = "hosts/" + fact, .subject = "run", .verdict = Verdict::pass, .reason = "OK"};
  std::vector<std::string> others;
  std::string other;
  for (const Said& one : all) {
    if (one.value == most) continue;
    others.push_back(fmt::format("{} ({})", one.host, one.value));
    other = one.host;
  }
  if (others.empty()) {
    check.text =
        fmt::format("{}: {} on {}", fact, most,
                    all.size() == 1 ? "the one host" : fmt::format("all {} hosts", all.size()));
    return check;
  }
  check.verdict = Verdict::warn;
  check.reason = "HOSTS_DIFFER";
  check.text =
      fmt::format("{}: {} on most hosts, but not on {}", fact, most, fmt::join(others, ", "));
  if (others.size() == 1) check.subject = "host " + other;
  return check;
}

// The facts that a name of the plan stands for: itself, or with '*' at its end all that begin so.
std::set<std::string> facts_named(const std::string& name, const std::vector<Facts>& facts) {
  std::set<std::string> names;
  const bool many = name.ends_with('*');
  const std::string begin = many ? name.substr(0, name.size() - 1) : name;
  for (const Facts& host : facts)
    for (const auto& [fact, value] : host)
      if (many ? fact.starts_with(begin) : fact == name) names.insert(fact);
  return names;
}

void check_wires(Context& context, const std::vector<HostDescription>& hosts) {
  for (int h = 0; h < context.hosts.number(); ++h) {
    const auto& throttled = hosts[static_cast<std::size_t>(h)].throttled_wires;
    if (throttled.empty()) continue;
    const std::string& name = context.hosts[h].name;
    context.journal.add({.id = "hosts/wires/" + name,
                         .subject = "host " + name,
                         .verdict = Verdict::warn,
                         .reason = "PCI_LIMITS",
                         .text = fmt::format("{}", fmt::join(throttled, "; "))});
  }
}

}  // namespace

void compare_hosts(Context& context) {
  const Hosts& hosts = context.hosts;
  context.journal.begin_stage(
      "hosts", fmt::format("{}, {}: what differs between them", counted(hosts.all().size(), "host"),
                           counted(static_cast<std::size_t>(context.team.rank().ranks()), "rank")));
  const auto descriptions = hosts.of_leaders(context.team.descriptions());
  std::vector<Facts> facts;
  for (const HostDescription& host : descriptions) facts.push_back(host.facts);
  context.journal.describe_hosts(facts);
  for (const std::string& name : context.plan.same) {
    const std::set<std::string> names = facts_named(name, facts);
    if (names.empty() && context.plan.same_given)
      context.journal.add({.id = "hosts/" + name,
                           .subject = "run",
                           .verdict = Verdict::inconclusive,
                           .reason = "FACT_NOT_KNOWN",
                           .text = fmt::format("no host tells the plan's {}", quote(name))});
    for (const std::string& fact : names)
      context.journal.add(comparison(said(hosts, facts, fact, name.ends_with('*')), fact));
  }
  check_wires(context, descriptions);
  context.journal.end_stage();
}

}  // namespace ccl_tests::acceptance
