// Are the hosts alike in what the plan says has to be the same?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "tools/acceptance/facts.hpp"
#include "tools/acceptance/report/words.hpp"
#include "tools/acceptance/stages.hpp"

namespace ccl_tests::acceptance {
namespace {

using Facts = std::map<std::string, std::string>;

std::string value_of(const Facts& facts, const std::string& fact) {
  const auto found = facts.find(fact);
  return found == facts.end() ? "nothing" : found->second;
}

// What most hosts say; of equally many the first in the alphabet.
std::string usual(const std::vector<Facts>& hosts, const std::string& fact) {
  std::map<std::string, int> times;
  for (const Facts& facts : hosts) ++times[value_of(facts, fact)];
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

Check comparison(const Hosts& hosts, const std::vector<Facts>& facts, const std::string& fact) {
  const std::string most = usual(facts, fact);
  Check check{.id = "hosts/" + fact, .subject = "run", .verdict = Verdict::pass, .reason = "OK"};
  std::vector<std::string> others;
  for (int h = 0; h < hosts.number(); ++h) {
    const std::string mine = value_of(facts[static_cast<std::size_t>(h)], fact);
    if (mine != most) others.push_back(fmt::format("{} ({})", hosts[h].name, mine));
  }
  if (others.empty()) {
    check.text = fmt::format(
        "{}: {} on {}", fact, most,
        hosts.number() == 1 ? "the one host" : fmt::format("all {} hosts", hosts.number()));
    return check;
  }
  check.verdict = Verdict::warn;
  check.reason = "HOSTS_DIFFER";
  check.text =
      fmt::format("{}: {} on most hosts, but not on {}", fact, most, fmt::join(others, ", "));
  if (others.size() == 1)
    for (int h = 0; h < hosts.number(); ++h)
      if (others.front().starts_with(hosts[h].name + " (")) check.subject = "host " + hosts[h].name;
  return check;
}

}  // namespace

void compare_hosts(Context& context) {
  context.journal.begin_stage(
      "hosts",
      fmt::format("{}, {}: what differs between them", counted(context.hosts.all().size(), "host"),
                  counted(static_cast<std::size_t>(context.team.rank().ranks()), "rank")));
  const std::vector<std::string> answers = context.team.ask("facts");
  std::vector<Facts> facts;
  for (int h = 0; h < context.hosts.number(); ++h)
    facts.push_back(facts_of(answers.at(static_cast<std::size_t>(context.hosts.leader(h)))));
  context.journal.describe_hosts(facts);
  for (const std::string& fact : context.plan.same) {
    const bool known = std::any_of(facts.begin(), facts.end(),
                                   [&](const Facts& host) { return host.contains(fact); });
    if (known) context.journal.add(comparison(context.hosts, facts, fact));
  }
  context.journal.end_stage();
}

}  // namespace ccl_tests::acceptance
