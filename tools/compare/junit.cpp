#include "src/report/junit.hpp"

#include <fmt/format.h>

#include "src/record/quantity_text.hpp"
#include "src/report/text.hpp"
#include "tools/compare/writers.hpp"

namespace ccl_tests::compare {
namespace {

std::string difference(const Report& report, const RowResult& row) {
  std::string text = fmt::format("{}: {} in base, {} in head, {} {:.3f}", verdict_text(row),
                                 seconds_text(row.base_s), seconds_text(row.head_s),
                                 ratio_name(report), row.ratio);
  if (row.interval)
    text += fmt::format(" (95 % interval {:.3f} to {:.3f})", row.interval->low, row.interval->high);
  return text + ", " + counted(row.pairs, "pair");
}

// What no row says: the verdict, the notes, what to do.
std::string all_of(const Report& report) {
  std::string text = summary(report).verdict + "\n";
  for (const std::string& note : all_notes(report)) text += single_line(note) + "\n";
  text += legend(report) + "\n";
  if (const std::string next = next_step(report); !next.empty()) text += "Next: " + next + "\n";
  return text;
}

JunitCase case_of(const Report& report, const RowResult& row) {
  const std::string words = difference(report, row);
  JunitCase made{.classname = report.program, .name = row_text(row.key), .output = words};
  if (failed(report, row))
    made.trouble = {.outcome = "failure", .message = words};
  else if (row.flagged && row.verdict == RowVerdict::inconclusive)
    made.trouble = {.outcome = "skipped", .message = words};
  return made;
}

}  // namespace

std::string junit_text(const Report& report) {
  JunitSuite suite{.name = "ccl_compare", .output = all_of(report)};
  for (const RowResult& row : report.comparison.rows)
    suite.cases += ccl_tests::junit_text(case_of(report, row), "  ");
  return std::string(xml_declaration) + ccl_tests::junit_text(suite, "");
}

}  // namespace ccl_tests::compare
