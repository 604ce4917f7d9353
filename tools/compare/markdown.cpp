#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/measure/statistics.hpp"
#include "src/record/quantity_text.hpp"
#include "src/report/text.hpp"
#include "tools/compare/writers.hpp"

namespace ccl_tests::compare {
namespace {

// A text from outside in a line of Markdown, none of whose characters have a meaning.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : single_line(text)) {
    constexpr std::string_view special = "\\`*_{}[]()<>#+-!|&~";
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// "6 of 6 rows slower (median 3.3x)".
std::string first_line(const Report& report, const Summary& s) {
  if (report.hints || report.aa) return s.verdict;
  const std::vector<RowResult>& rows = report.comparison.rows;
  const std::string all = counted(rows.size(), "row");
  std::vector<double> ratios;
  for (const RowResult& row : rows)
    if (row.verdict == RowVerdict::slower) ratios.push_back(row.ratio);
  if (!ratios.empty())
    return fmt::format("{} of {} slower (median {:.3g}x)", ratios.size(), all, median(ratios));
  if (s.undecided > 0) return fmt::format("{} of {} undecided, none slower", s.undecided, all);
  return fmt::format("none of {} slower", all);
}

// Puts slower rows first, the slowest at the top, then undecided ones.
std::vector<RowResult> by_weight(std::vector<RowResult> rows) {
  const auto weight = [](const RowResult& row) {
    if (row.verdict == RowVerdict::slower) return 0;
    return row.flagged && row.verdict == RowVerdict::inconclusive ? 1 : 2;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const RowResult& a, const RowResult& b) {
    if (weight(a) != weight(b)) return weight(a) < weight(b);
    return weight(a) == 0 && a.ratio > b.ratio;
  });
  return rows;
}

std::string table(const Report& report) {
  std::string text = fmt::format(
      "| size | type | op | placement | base | head | {} | 95 % interval | pairs | verdict |\n"
      "|---:|---|---|---|---:|---:|---:|---|---:|---|\n",
      ratio_name(report));
  for (const RowResult& row : by_weight(report.comparison.rows)) {
    const char* const bold = failed(report, row) ? "**" : "";
    text += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {:.3f} | {} | {} | {}{}{} |\n",
        binary_size_text(row.key.bytes), name(row.key.type),
        row.key.op ? name(*row.key.op) : "none", plain(where_text(row.key)),
        seconds_text(row.base_s), seconds_text(row.head_s), row.ratio,
        row.interval ? fmt::format("{:.3f} to {:.3f}", row.interval->low, row.interval->high) : "",
        row.pairs, bold, verdict_text(row), bold);
  }
  return text;
}

}  // namespace

std::string markdown_text(const Report& report) {
  const Summary s = summary(report);
  const std::size_t rows = report.comparison.rows.size();
  std::string text =
      fmt::format("**{}: {}**\n\n", plain(report.program), plain(first_line(report, s)));
  if (const std::string next = next_step(report); !next.empty())
    text += fmt::format("Next: {}\n\n", plain(next));
  if (s.count(RowVerdict::slower) > 0)
    text += table(report);
  else
    text += fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n", counted(rows, "row"),
                        table(report));
  text += fmt::format("\n{}.\n\n", plain(legend(report)));
  text += fmt::format("- base: {}\n- head: {}\n- threshold: {:g} %\n", plain(report.base),
                      plain(report.head), report.threshold * 100);
  for (const std::string& note : all_notes(report)) text += fmt::format("- {}\n", plain(note));
  return text;
}

}  // namespace ccl_tests::compare
