#include "tools/acceptance/report/findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace ccl_tests::acceptance {
namespace {

bool wrong(Verdict verdict) { return verdict >= Verdict::warn; }

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
  constexpr std::string_view host = "host ";
  return check.subject.substr(check.subject.rfind(host, 0) == 0 ? host.size() : 0);
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

}  // namespace ccl_tests::acceptance
