#include <fmt/format.h>

#include <algorithm>

#include "src/record/quantity_text.hpp"
#include "src/report/text.hpp"
#include "tools/compare/verdict.hpp"
#include "tools/compare/writers.hpp"

namespace ccl_tests::compare {
namespace {

std::string interval_text(const std::optional<Interval>& interval) {
  return interval ? fmt::format("[{:.3f},{:.3f}]", interval->low, interval->high) : "-";
}

std::string method_text(const Report& report) {
  const Comparison& c = report.comparison;
  if (report.hints) return "one run a side; intervals of the times as the runs printed them";
  std::string text;
  if (report.interleaved) {
    text = fmt::format("screen: {} flagged {} of {}", counted(c.screened_pairs, "pair"), c.flagged,
                       counted(c.rows.size(), "row"));
    if (c.flagged == 0) return text + "; nothing to test";
    text += "; test: " + counted(c.tested_pairs, "fresh pair");
  } else {
    text = fmt::format("test: {} a side", counted(c.tested_pairs, "run"));
  }
  text += fmt::format("; sign test against a ratio of {:.3g}, Holm's correction at {}",
                      tested_ratio(report.threshold), false_alarm_rate);
  if (c.looks > 1) text += fmt::format(" for {} looks", c.looks);
  const std::size_t tests = (report.interleaved ? c.flagged : c.rows.size()) * c.looks;
  if (const auto agree = pairs_that_agree(c.tested_pairs, tests, false_alarm_rate))
    text += fmt::format(": {} of {} pairs must agree for the first row", *agree, c.tested_pairs);
  return text;
}

}  // namespace

std::string table_text(const Report& report) {
  const Comparison& c = report.comparison;
  const Summary s = summary(report);
  std::size_t width = 12;
  for (const RowResult& row : c.rows) width = std::max(width, where_text(row.key).size());
  std::string text = fmt::format("# ccl_compare: {}, threshold {:g} %\n",
                                 single_line(report.program), report.threshold * 100);
  text +=
      fmt::format("# base: {}\n# head: {}\n", single_line(report.base), single_line(report.head));
  text += fmt::format("# {}\n", method_text(report));
  for (const std::string& note : all_notes(report))
    text += fmt::format("# Note: {}\n", single_line(note));
  text += fmt::format("#\n#{:>11} {:>8} {:>7} {:>{}} {:>11} {:>11} {:>10} {:>15} {:>5}  {}\n",
                      "size", "type", "op", "placement", width, "base", "head", ratio_name(report),
                      "95 % interval", "pairs", "verdict");
  text += fmt::format("#{:>11} {:>8} {:>7} {:>{}} {:>11} {:>11}\n", "(B)", "", "", "", width,
                      "(us)", "(us)");
  for (const RowResult& row : c.rows)
    text += fmt::format("{:12} {:>8} {:>7} {:>{}} {:11.2f} {:11.2f} {:10.3f} {:>15} {:5}  {}\n",
                        row.key.bytes, name(row.key.type), row.key.op ? name(*row.key.op) : "none",
                        where_text(row.key), width, row.base_s * 1e6, row.head_s * 1e6, row.ratio,
                        interval_text(row.interval), row.pairs, verdict_text(row));
  text += fmt::format("#\n# {}\n", legend(report));
  text += fmt::format("# Geometric mean of the ratios : {:.3f}\n", s.mean_ratio);
  if (const std::string next = next_step(report); !next.empty())
    text += fmt::format("# Next : {}\n", next);
  return text + fmt::format("# Verdict : {}\n", s.verdict);
}

}  // namespace ccl_tests::compare
