#include "tools/acceptance/baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "tools/acceptance/report/headline.hpp"

namespace ccl_tests::acceptance {
namespace {

struct Rate {
  double value = 0, low = 0, high = 0;  // B/s
};

double number_of(const Check& check, std::string_view name) {
  for (const Number& number : check.numbers)
    if (number.name == name) return number.value;
  return 0;
}

// nullopt: the check is of no row.
std::optional<Rate> rate_of(const Check& check) {
  const Rate rate{number_of(check, "busbw"), number_of(check, "busbw_low"),
                  number_of(check, "busbw_high")};
  return rate.value > 0 && rate.low > 0 && rate.high > 0 ? std::optional(rate) : std::nullopt;
}

std::map<std::string, Rate> rates_of(const Record& record) {
  std::map<std::string, Rate> rates;
  for (const Check& check : record.checks)
    if (const auto rate = rate_of(check)) rates.emplace(check.id, *rate);
  return rates;
}

Check slower_row(const Check& check, const Rate& was, const Rate& is) {
  return {
      .id = "baseline/" + check.id,
      .subject = check.subject,
      .verdict = Verdict::warn,
      .reason = "SLOWER_THAN_BEFORE",
      .text = fmt::format("{}: {}, {} before", check.id, rate_text(is.value), rate_text(was.value)),
      .numbers = {{"slowdown", was.value / is.value - 1},
                  {"slowdown_low", was.low / is.high - 1},
                  {"slowdown_high", was.high / is.low - 1},
                  {"busbw", is.value, "B/s"},
                  {"busbw_before", was.value, "B/s"}}};
}

}  // namespace

void check_same_run(const Record& before, const Record& now) {
  const auto same = [](const char* what, const std::string& was, const std::string& is) {
    if (was != is)
      throw UsageError(
          fmt::format("--baseline: the {} was {} and is {}; accepted: a run of the same", what,
                      quote(was), quote(is)));
  };
  const auto ranks = [](const Record& record) {
    std::size_t all = 0;
    for (const Host& host : record.hosts) all += host.ranks.size();
    return std::to_string(all);
  };
  same("plan", before.plan, now.plan);
  same("backend", before.backend, now.backend);
  same("number of hosts", std::to_string(before.hosts.size()), std::to_string(now.hosts.size()));
  same("number of ranks", ranks(before), ranks(now));
}

std::vector<Check> compare_rows(const Record& before, const Record& now, double slowdown) {
  const std::map<std::string, Rate> known = rates_of(before);
  std::vector<Check> checks;
  std::size_t common = 0;
  std::vector<std::string> missing;
  for (const Check& check : now.checks) {
    const auto is = rate_of(check);
    if (!is) continue;
    const auto was = known.find(check.id);
    if (was == known.end()) {
      missing.push_back(check.id);
      continue;
    }
    ++common;
    if (was->second.value / is->value - 1 > slowdown && was->second.low > is->high)
      checks.push_back(slower_row(check, was->second, *is));
  }
  Check all{.id = "baseline/rows",
            .verdict = Verdict::pass,
            .reason = "OK",
            .text = fmt::format("{} of {} rows are slower than before by more than {:g} %",
                                checks.size(), common, 100 * slowdown),
            .numbers = {{"rows", static_cast<double>(common)},
                        {"slower_rows", static_cast<double>(checks.size())}}};
  if (common == 0) {
    all.set(Verdict::inconclusive, "NOTHING_MEASURED", "the earlier run has none of these rows");
  } else if (!missing.empty()) {
    all.verdict = Verdict::inconclusive;
    all.reason = "NOT_IN_BASELINE";
    all.text += fmt::format("; the earlier run lacks {}", fmt::join(missing, ", "));
  }
  checks.push_back(std::move(all));
  return checks;
}

}  // namespace ccl_tests::acceptance
