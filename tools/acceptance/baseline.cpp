#include "tools/acceptance/baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <optional>
#include <string>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "tools/acceptance/report/headline.hpp"

namespace ccl_tests::acceptance {
namespace {

struct Rate {
  double value = 0, low = 0, high = 0;  // B/s
};

// Returns nullopt if the check is of no row.
std::optional<Rate> rate_of(const Check& check) {
  Rate rate;
  for (const Number& number : check.numbers) {
    if (number.name == "busbw") rate.value = number.value;
    if (number.name == "busbw_low") rate.low = number.value;
    if (number.name == "busbw_high") rate.high = number.value;
  }
  return rate.value > 0 && rate.low > 0 && rate.high > 0 ? std::optional(rate) : std::nullopt;
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
  same("plan", before.plan, now.plan);
  same("backend", before.backend, now.backend);
  same("number of hosts", std::to_string(before.hosts.size()), std::to_string(now.hosts.size()));
  same("number of ranks", std::to_string(ranks_of(before)), std::to_string(ranks_of(now)));
}

std::vector<Check> compare_rows(const Record& before, const Record& now, double slowdown) {
  std::map<std::string, Rate> known;
  for (const Check& check : before.checks)
    if (const auto rate = rate_of(check)) known.emplace(check.id, *rate);
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
