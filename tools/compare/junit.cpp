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
  std::string text = xml_text(summary(report).verdict) + "\n";
  for (const std::string& note : all_notes(report)) text += xml_text(note) + "\n";
  text += xml_text(legend(report)) + "\n";
  if (const std::string next = next_step(report); !next.empty())
    text += "Next: " + xml_text(next) + "\n";
  return text;
}

bool undecided(const RowResult& row) {
  return row.flagged && row.verdict == RowVerdict::inconclusive;
}

}  // namespace

std::string junit_text(const Report& report) {
  const std::vector<RowResult>& rows = report.comparison.rows;
  std::size_t failures = 0, skipped = 0;
  for (const RowResult& row : rows) {
    failures += failed(report, row) ? 1 : 0;
    skipped += undecided(row) ? 1 : 0;
  }
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"ccl_compare\" tests=\"{}\" "
      "failures=\"{}\" errors=\"0\" skipped=\"{}\">\n",
      rows.size(), failures, skipped);
  for (const RowResult& row : rows) {
    text += fmt::format("  <testcase classname=\"{}\" name=\"{}\">", xml_text(report.program),
                        xml_text(row_text(row.key)));
    if (failed(report, row))
      text += fmt::format("<failure message=\"{}\"/>", xml_text(difference(report, row)));
    if (undecided(row))
      text += fmt::format("<skipped message=\"{}\"/>", xml_text(difference(report, row)));
    text +=
        fmt::format("<system-out>{}</system-out></testcase>\n", xml_text(difference(report, row)));
  }
  return text + fmt::format("  <system-out>{}</system-out>\n</testsuite>\n", all_of(report));
}

}  // namespace ccl_tests::compare
