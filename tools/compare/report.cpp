#include "tools/compare/report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "src/record/quantity_text.hpp"

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

std::string_view ratio_name(const Report& report) { return report.hints ? "ratio" : "pair ratio"; }

std::string legend(const Report& report) {
  if (report.hints)
    return "ratio: head / base, with the interval that the two times' 95 % intervals give; slower?, faster?: these "
           "intervals do not touch";
  std::string text =
      "base, head: median times; pair ratio: median of head / base over the pairs, not the quotient of the medians, "
      "with its 95 % interval; not slower: by less than the threshold; inconclusive: more pairs may decide";
  if (report.interleaved) text += "; unflagged: within the threshold in the screen, not tested";
  return text;
}

std::string next_step(const Report& report) {
  const Summary s = summary(report);
  if (report.hints)
    return "run both in turns, which confirms or refutes the hints: ccl_compare --base CMD --head CMD";
  if (s.code == Exit::inconclusive)
    return "nothing is known to be slower; more pairs (--max-pairs), fewer sizes or a quieter machine decide more";
  if (s.code != Exit::too_slow) return {};
  if (report.aa) return "do not trust verdicts of this machine before --aa raises no alarm";
  return "fix the slowdown, or accept it; --base CMD --aa says whether this machine raises false alarms";
}

bool failed(const Report& report, const RowResult& row) {
  const bool differs = row.verdict == RowVerdict::slower ||
                       (report.aa && row.verdict == RowVerdict::faster);  // a false alarm
  return differs && !row.hint;
}

std::vector<std::string> all_notes(const Report& report) {
  std::vector<std::string> notes = report.notes;
  const Comparison& c = report.comparison;
  if (report.by == JudgedBy::fast) notes.emplace_back(fast_note);
  if (c.only_base > 0) notes.push_back(counted(c.only_base, "row") + " in base only");
  if (c.only_head > 0) notes.push_back(counted(c.only_head, "row") + " in head only");
  if (c.redrawn > 0)
    notes.push_back(fmt::format("the machine changed its speed during {}, which {} drawn again",
                                counted(c.redrawn, "pair"), c.redrawn == 1 ? "was" : "were"));
  notes.insert(notes.end(), c.notes.begin(), c.notes.end());
  return notes;
}

}  // namespace ccl_tests::compare
