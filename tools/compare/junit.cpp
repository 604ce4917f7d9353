#include <fmt/format.h>

#include "src/report/quantity_text.hpp"
#include "src/report/text.hpp"
#include "tools/compare/writers.hpp"

namespace ccl_tests::compare {
namespace {

std::string difference(const RowResult& row) {
  std::string text = fmt::format("{}: {:.2f} us in base, {:.2f} us in head, ratio {:.3f}",
                                 verdict_text(row), row.base_s * 1e6, row.head_s * 1e6, row.ratio);
  if (row.interval) text += fmt::format(" [{:.3f},{:.3f}]", row.interval->low, row.interval->high);
  return text + ", " + counted(row.pairs, "pair");
}

bool failed(const Report& report, const RowResult& row) {
  const bool differs = row.verdict == RowVerdict::slower ||
                       (report.aa && row.verdict == RowVerdict::faster);  // a false alarm
  return differs && !row.hint;
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
      text += fmt::format("<failure message=\"{}\"/>", xml_text(difference(row)));
    if (undecided(row)) text += fmt::format("<skipped message=\"{}\"/>", xml_text(difference(row)));
    text += fmt::format("<system-out>{}</system-out></testcase>\n", xml_text(difference(row)));
  }
  return text + "</testsuite>\n";
}

}  // namespace ccl_tests::compare
