#include "tools/acceptance/report/findings.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace ccl_tests::acceptance {
namespace {

bool wrong(Verdict verdict) { return verdict >= Verdict::warn; }

std::optional<std::string_view> after(std::string_view text, std::string_view begin) {
  if (text.substr(0, begin.size()) != begin) return std::nullopt;
  return text.substr(begin.size());
}

using Indices = std::map<std::string_view, std::size_t>;

// Names of hosts may hold '-' themselves: each '-' is tried.
void add_link(std::string_view ends, const Indices& indices, std::vector<Link>& links) {
  for (std::size_t at = ends.find('-'); at != std::string_view::npos; at = ends.find('-', at + 1)) {
    const bool one_way = ends.substr(at, 2) == "->";
    const auto from = indices.find(ends.substr(0, at));
    const auto to = indices.find(ends.substr(at + (one_way ? 2 : 1)));
    if (from == indices.end() || to == indices.end()) continue;
    links.push_back({from->second, to->second});
    if (!one_way) links.push_back({to->second, from->second});
    return;
  }
}

}  // namespace

Verdict shown_verdict(const Record& record) {
  const bool looked =
      std::any_of(record.checks.begin(), record.checks.end(),
                  [](const Check& check) { return check.verdict != Verdict::skipped; });
  if (record.complete && looked && record.verdict != Verdict::skipped) return record.verdict;
  return std::max(record.verdict, Verdict::inconclusive);
}

std::vector<const Check*> wrong_checks(const Record& record) {
  std::vector<const Check*> found;
  for (const Check& check : record.checks)
    if (wrong(check.verdict)) found.push_back(&check);
  std::stable_sort(found.begin(), found.end(),
                   [](const Check* a, const Check* b) { return a->verdict > b->verdict; });
  return found;
}

const Check* deciding_check(const Record& record) {
  const std::vector<const Check*> all = wrong_checks(record);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Check* check) {
    return check->verdict == record.verdict && check->reason == record.reason;
  });
  if (found != all.end()) return *found;
  return all.empty() ? nullptr : all.front();
}

std::string bare_subject(const Check& check) {
  return std::string(after(check.subject, "host ").value_or(check.subject));
}

std::string next_step(const Record& record) {
  if (!record.complete)
    return record.excluded.empty()
               ? "continue with the same command and --resume FILE, where --verdict FILE was given"
               : "repeat the run without these hosts";
  switch (shown_verdict(record)) {
    case Verdict::fail:
      return record.excluded.empty()
                 ? "no host is to blame; docs/ACCEPTANCE.md explains the reasons"
                 : "repeat the run without these hosts";
    case Verdict::inconclusive: return "nothing is proven; mend what is listed and repeat the run";
    case Verdict::warn: return "the run may be accepted; look at what is listed";
    case Verdict::pass:
    case Verdict::skipped: break;
  }
  return "keep the verdict file, to look back at";
}

std::size_t ranks_of(const Record& record) {
  std::size_t ranks = 0;
  for (const Host& host : record.hosts) ranks += host.ranks.size();
  return ranks;
}

Suspects suspects(const Record& record) {
  Indices indices;
  for (std::size_t i = 0; i < record.hosts.size(); ++i) indices.emplace(record.hosts[i].name, i);
  Suspects found;
  found.hosts.resize(record.hosts.size());
  const auto mark = [&](std::string_view name) {
    if (const auto host = indices.find(name); host != indices.end())
      found.hosts[host->second] = true;
  };
  for (const std::string& name : record.excluded) mark(name);
  for (const Check& check : record.checks) {
    if (!wrong(check.verdict)) continue;
    if (const auto host = after(check.subject, "host "); host && check.verdict == Verdict::fail)
      mark(*host);
    if (const auto ends = after(check.subject, "link ")) add_link(*ends, indices, found.links);
  }
  return found;
}

}  // namespace ccl_tests::acceptance
