#include "tools/acceptance/report/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

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

bool is_relative(const Record& record) {
  const Verdict verdict = shown_verdict(record);
  return (verdict == Verdict::pass || verdict == Verdict::warn) &&
         std::any_of(record.checks.begin(), record.checks.end(), [](const Check& check) {
           return check.id == "limits/ceiling" && check.reason == "NO_CEILING";
         });
}

std::string containment_text(const Record& record) {
  std::string text;
  for (const Stage& outer : record.stages) {
    std::vector<std::string> inner;
    for (const Stage& one : record.stages)
      if (outer.begin_s > 0 && one.begin_s > outer.begin_s && one.begin_s < outer.end_s &&
          one.end_s <= outer.end_s)
        inner.push_back(one.name);
    if (inner.empty()) continue;
    const std::string last = inner.back();
    inner.pop_back();
    text += fmt::format("{}The time of {} contains that of {}{}{}.", text.empty() ? "" : " ",
                        outer.name, fmt::join(inner, ", "), inner.empty() ? "" : " and ", last);
  }
  return text;
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
