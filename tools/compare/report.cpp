#include "tools/compare/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "src/measure/statistics.hpp"
#include "src/record/quantity_text.hpp"
#include "src/report/junit.hpp"
#include "src/report/text.hpp"

namespace ccl_tests::compare {
namespace {

Exit code_of(const Report& report, const Summary& s) {
  if (report.hints) return Exit::passed;
  const bool is_false_alarm = report.aa && s.count(RowVerdict::faster) > 0;
  if (is_false_alarm || s.count(RowVerdict::slower) > 0) return Exit::too_slow;
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

// Returns the name of RowResult::ratio. One pair has one ratio; the median ratio of several is not
// that of the times.
std::string_view ratio_name(const Report& report) { return report.hints ? "ratio" : "pair ratio"; }

// Returns a line that says what the columns and verdicts mean.
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

// Returns what to do next. Empty: nothing.
std::string next_step(const Report& report, const Summary& s) {
  if (report.hints)
    return "run both in turns, which confirms or refutes the hints: ccl_compare --base CMD --head CMD";
  const auto& rows = report.comparison.rows;
  const auto looks_slower = std::ranges::count_if(rows, [&](const RowResult& row) {
    return row.undecided() && row.ratio > 1 + report.threshold;
  });
  if (s.code == Exit::inconclusive && looks_slower > 0)
    return fmt::format(
        "{} may be slower, but so few pairs do not confirm it; a longer --time-budget or more pairs "
        "(--max-pairs) decide",
        counted(static_cast<std::size_t>(looks_slower), "row"));
  if (s.code == Exit::inconclusive)
    return "nothing is known to be slower; more pairs (--max-pairs), fewer sizes or a quieter machine decide more";
  if (s.code != Exit::too_slow) return {};
  if (report.aa) return "do not trust verdicts of this machine before --aa raises no alarm";
  return "fix the slowdown, or accept it; --base CMD --aa says whether this machine raises false alarms";
}

// Returns whether the row fails a gate: slower, or with --aa any confirmed difference.
bool failed(const Report& report, const RowResult& row) {
  const bool differs = row.verdict == RowVerdict::slower ||
                       (report.aa && row.verdict == RowVerdict::faster);  // a false alarm
  return differs && !row.hint;
}

// Returns the report's notes and the comparison's, a line each.
std::vector<std::string> all_notes(const Report& report) {
  std::vector<std::string> notes = report.notes;
  const Comparison& c = report.comparison;
  if (report.by == JudgedBy::fast)
    notes.emplace_back(
        "more busy threads than CPUs, so medians are noise: rows compare the 10th percentile of the calls; rows that "
        "have only a mean compare it");
  if (c.only_base > 0) notes.push_back(counted(c.only_base, "row") + " in base only");
  if (c.only_head > 0) notes.push_back(counted(c.only_head, "row") + " in head only");
  if (c.redrawn > 0)
    notes.push_back(fmt::format("the machine changed its speed during {}, which {} drawn again",
                                counted(c.redrawn, "pair"), c.redrawn == 1 ? "was" : "were"));
  notes.insert(notes.end(), c.notes.begin(), c.notes.end());
  return notes;
}

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
  if (const auto agree = pairs_that_agree(c.tested_pairs, tests))
    text += fmt::format(": {} of {} pairs must agree for the first row", *agree, c.tested_pairs);
  return text;
}

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json header(const Report& report) {
  const Comparison& c = report.comparison;
  Json notes = Json::array();
  for (const std::string& note : all_notes(report)) notes.push_back(valid_utf8(note));
  return {{"type", "header"},
          {"schema_version", 1},
          {"program", valid_utf8(report.program)},
          {"base", valid_utf8(report.base)},
          {"head", valid_utf8(report.head)},
          {"threshold", report.threshold},
          {"tested_ratio", tested_ratio(report.threshold)},
          {"hints", report.hints},
          {"interleaved", report.interleaved},
          {"compared", report.by == JudgedBy::fast ? "fast" : "time"},
          {"aa", report.aa},
          {"screened_pairs", c.screened_pairs},
          {"tested_pairs", c.tested_pairs},
          {"looks", c.looks},
          {"redrawn_pairs", c.redrawn},
          {"core_to_core_low_s", c.probes ? Json(c.probes->low) : Json(nullptr)},
          {"core_to_core_high_s", c.probes ? Json(c.probes->high) : Json(nullptr)},
          {"notes", notes}};
}

Json line(const RowResult& row) {
  return {{"type", "row"},
          {"size_bytes", row.key.bytes},
          {"datatype", name(row.key.type)},
          {"op", row.key.op ? Json(name(*row.key.op)) : Json(nullptr)},
          {"root", or_null(row.key.root)},
          {"group", or_null(row.key.group)},
          {"pair", row.key.pair ? Json(name(*row.key.pair)) : Json(nullptr)},
          {"placement", row.key.in_place ? "in_place" : "out_of_place"},
          {"base_time_s", row.base_s},
          {"head_time_s", row.head_s},
          {"ratio", row.ratio},
          {"ratio_low", row.interval ? Json(row.interval->low) : Json(nullptr)},
          {"ratio_high", row.interval ? Json(row.interval->high) : Json(nullptr)},
          {"pairs", row.pairs},
          {"flagged", row.flagged},
          {"p_slower", or_null(row.p_slower)},
          {"p_faster", or_null(row.p_faster)},
          {"verdict", verdict_text(row)}};
}

Json footer(const Report& report) {
  const Summary s = summary(report);
  return {{"type", "footer"},
          {"verdict", s.verdict},
          {"exit_code", exit_code(s.code)},
          {"mean_ratio", s.mean_ratio},
          {"slower", s.count(RowVerdict::slower)},
          {"faster", s.count(RowVerdict::faster)},
          {"same", s.count(RowVerdict::same)},
          {"not_slower", s.count(RowVerdict::not_slower)},
          {"inconclusive", s.count(RowVerdict::inconclusive)},
          {"unflagged", s.count(RowVerdict::unflagged)},
          {"undecided", s.undecided}};
}

// Returns a text from outside in a line of Markdown, none of whose characters have a meaning.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : single_line(text)) {
    constexpr std::string_view special = "\\`*_{}[]()<>#+-!|&~";
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Returns "6 of 6 rows slower (median 3.3x)".
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
    return row.undecided() ? 1 : 2;
  };
  std::ranges::stable_sort(rows, [&](const RowResult& a, const RowResult& b) {
    if (weight(a) != weight(b)) return weight(a) < weight(b);
    return weight(a) == 0 && a.ratio > b.ratio;
  });
  return rows;
}

std::string markdown_table(const Report& report) {
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

// Returns what no row says: the verdict, the notes, what to do.
std::string all_of(const Report& report) {
  const Summary s = summary(report);
  std::string text = s.verdict + "\n";
  for (const std::string& note : all_notes(report)) text += single_line(note) + "\n";
  text += legend(report) + "\n";
  if (const std::string next = next_step(report, s); !next.empty()) text += "Next: " + next + "\n";
  return text;
}

JunitCase case_of(const Report& report, const RowResult& row) {
  std::string words = fmt::format("{}: {} in base, {} in head, {} {:.3f}", verdict_text(row),
                                  seconds_text(row.base_s), seconds_text(row.head_s),
                                  ratio_name(report), row.ratio);
  if (row.interval)
    words +=
        fmt::format(" (95 % interval {:.3f} to {:.3f})", row.interval->low, row.interval->high);
  words += ", " + counted(row.pairs, "pair");
  JunitCase made{.classname = report.program, .name = row_text(row.key), .output = words};
  if (failed(report, row))
    made.trouble = {.outcome = "failure", .message = words};
  else if (row.undecided())
    made.trouble = {.outcome = "skipped", .message = words};
  return made;
}

}  // namespace

Summary summary(const Report& report) {
  Summary s;
  double logs = 0;
  for (const RowResult& row : report.comparison.rows) {
    ++s.rows[static_cast<std::size_t>(row.verdict)];
    if (row.undecided()) ++s.undecided;
    logs += std::log(row.ratio);
  }
  if (!report.comparison.rows.empty())
    s.mean_ratio = std::exp(logs / static_cast<double>(report.comparison.rows.size()));
  s.code = code_of(report, s);
  s.verdict = text_of(report, s);
  return s;
}

std::string table_text(const Report& report) {
  const Comparison& c = report.comparison;
  const Summary s = summary(report);
  std::size_t width = 12;
  for (const RowResult& row : c.rows) width = std::max(width, where_text(row.key).size());
  std::string text =
      fmt::format("# ccl_compare: {}, threshold {:g} %\n# base: {}\n# head: {}\n# {}\n",
                  single_line(report.program), report.threshold * 100, single_line(report.base),
                  single_line(report.head), method_text(report));
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
  text += fmt::format("#\n# {}\n# Geometric mean of the ratios : {:.3f}\n", legend(report),
                      s.mean_ratio);
  if (const std::string next = next_step(report, s); !next.empty())
    text += fmt::format("# Next : {}\n", next);
  return text + fmt::format("# Verdict : {}\n", s.verdict);
}

std::string json_text(const Report& report) {
  std::string text = header(report).dump() + "\n";
  for (const RowResult& row : report.comparison.rows) text += line(row).dump() + "\n";
  return text + footer(report).dump() + "\n";
}

std::string markdown_text(const Report& report) {
  const Summary s = summary(report);
  const std::size_t rows = report.comparison.rows.size();
  std::string text =
      fmt::format("**{}: {}**\n\n", plain(report.program), plain(first_line(report, s)));
  if (const std::string next = next_step(report, s); !next.empty())
    text += fmt::format("Next: {}\n\n", plain(next));
  if (s.count(RowVerdict::slower) > 0)
    text += markdown_table(report);
  else
    text += fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n", counted(rows, "row"),
                        markdown_table(report));
  text +=
      fmt::format("\n{}.\n\n- base: {}\n- head: {}\n- threshold: {:g} %\n", plain(legend(report)),
                  plain(report.base), plain(report.head), report.threshold * 100);
  for (const std::string& note : all_notes(report)) text += fmt::format("- {}\n", plain(note));
  return text;
}

std::string junit_text(const Report& report) {
  JunitSuite suite{.name = "ccl_compare", .output = all_of(report)};
  for (const RowResult& row : report.comparison.rows)
    suite.cases += ccl_tests::junit_text(case_of(report, row), "  ");
  return std::string(xml_declaration) + ccl_tests::junit_text(suite, "");
}

}  // namespace ccl_tests::compare
