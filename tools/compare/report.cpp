#include "tools/compare/report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "src/report/quantity_text.hpp"

namespace ccl_tests::compare {
namespace {

Exit code_of(const Report& report, const Summary& s) {
  if (report.hints) return Exit::passed;
  if (report.aa) {
    const bool alarm = s.count(RowVerdict::slower) + s.count(RowVerdict::faster) > 0;
    if (alarm) return Exit::too_slow;
    return s.undecided > 0 ? Exit::inconclusive : Exit::passed;
  }
  if (s.count(RowVerdict::slower) > 0) return Exit::too_slow;
  return s.undecided > 0 ? Exit::inconclusive : Exit::passed;
}

std::string text_of(const Report& report, const Summary& s) {
  std::string counts = fmt::format("{} slower, {} faster, {} same, {} not slower, {} inconclusive",
                                   s.count(RowVerdict::slower), s.count(RowVerdict::faster),
                                   s.count(RowVerdict::same), s.count(RowVerdict::not_slower),
                                   s.count(RowVerdict::inconclusive));
  if (report.interleaved) counts += fmt::format(", {} unflagged", s.count(RowVerdict::unflagged));
  if (report.hints) return "hints only, nothing is confirmed: " + counts;
  if (report.aa) {
    return fmt::format(
        "{} in {}: {}",
        counted(s.count(RowVerdict::slower) + s.count(RowVerdict::faster), "false alarm"),
        counted(report.comparison.rows.size(), "row"), counts);
  }
  const char* word = "not slower";
  if (s.code == Exit::too_slow) word = "slower";
  if (s.code == Exit::inconclusive) word = "inconclusive";
  return fmt::format("{}: {}", word, counts);
}

}  // namespace

Summary summary(const Report& report) {
  Summary s;
  double logs = 0;
  for (const RowResult& row : report.comparison.rows) {
    ++s.rows[static_cast<std::size_t>(row.verdict)];
    if (row.flagged && row.verdict == RowVerdict::inconclusive) ++s.undecided;
    logs += std::log(row.ratio);
  }
  if (!report.comparison.rows.empty())
    s.mean_ratio = std::exp(logs / static_cast<double>(report.comparison.rows.size()));
  s.code = code_of(report, s);
  s.verdict = text_of(report, s);
  return s;
}

std::vector<std::string> all_notes(const Report& report) {
  std::vector<std::string> notes = report.notes;
  const Comparison& c = report.comparison;
  if (report.by == JudgedBy::fast) notes.emplace_back(fast_note);
  if (c.only_base > 0) notes.push_back(counted(c.only_base, "row") + " in base only");
  if (c.only_head > 0) notes.push_back(counted(c.only_head, "row") + " in head only");
  notes.insert(notes.end(), c.notes.begin(), c.notes.end());
  return notes;
}

}  // namespace ccl_tests::compare
