#include <fmt/format.h>

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

}  // namespace

std::string markdown_text(const Report& report) {
  const Summary s = summary(report);
  std::string text = fmt::format("**{}**: {}\n\n", plain(report.program), plain(s.verdict));
  text += fmt::format("- base: {}\n- head: {}\n- threshold: {:g} %\n", plain(report.base),
                      plain(report.head), report.threshold * 100);
  for (const std::string& note : all_notes(report)) text += fmt::format("- {}\n", plain(note));
  text +=
      "\n| size (B) | type | op | placement | base (us) | head (us) | ratio | interval | pairs | "
      "verdict |\n|---:|---|---|---|---:|---:|---:|---|---:|---|\n";
  for (const RowResult& row : report.comparison.rows) {
    const bool bold = row.verdict == RowVerdict::slower && !row.hint;
    text += fmt::format(
        "| {} | {} | {} | {} | {:.2f} | {:.2f} | {:.3f} | {} | {} | {}{}{} |\n", row.key.bytes,
        name(row.key.type), row.key.op ? name(*row.key.op) : "none", plain(where_text(row.key)),
        row.base_s * 1e6, row.head_s * 1e6, row.ratio,
        row.interval ? fmt::format("{:.3f} to {:.3f}", row.interval->low, row.interval->high) : "",
        row.pairs, bold ? "**" : "", verdict_text(row), bold ? "**" : "");
  }
  return text;
}

}  // namespace ccl_tests::compare
