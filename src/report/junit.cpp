#include "src/report/junit.hpp"

#include <fmt/format.h>

#include "src/core/error.hpp"
#include "src/record/quantity_text.hpp"
#include "src/record/row_text.hpp"
#include "src/report/exports/document.hpp"
#include "src/report/reporter.hpp"
#include "src/report/text.hpp"
#include "src/report/verdict_file.hpp"

namespace ccl_tests {
namespace {

std::string trouble_text(const JunitTrouble& trouble) {
  std::string text = fmt::format("<{}", trouble.outcome);
  if (trouble.type) text += fmt::format(" type=\"{}\"", xml_text(*trouble.type));
  text += fmt::format(" message=\"{}\"", xml_text(trouble.message));
  if (!trouble.details) return text + "/>";
  return text + fmt::format(">{}</{}>", xml_lines(*trouble.details), trouble.outcome);
}

std::string time_attribute(const std::string& seconds) {
  return seconds.empty() ? "" : fmt::format(" time=\"{}\"", seconds);
}

JunitCase limit_case(const LimitFinding& limit) {
  const auto unit = [&](double number) {
    return fmt::format("{:.4g}{}{}", number, limit.unit.empty() ? "" : " ", limit.unit);
  };
  std::string text = limit.limit ? "limit " + unit(*limit.limit) : std::string();
  if (limit.value) text += ", found " + unit(*limit.value);
  if (limit.low && limit.high)
    text += fmt::format(", 95 % interval {} to {}", unit(*limit.low), unit(*limit.high));
  JunitCase made{
      .name = fmt::format("limit {}{}{}", limit.flag, limit.row.empty() ? "" : " ", limit.row)};
  switch (limit.verdict) {
    case LimitVerdict::missed: made.trouble = {"failure", "too slow", limit.text, text}; break;
    case LimitVerdict::undecided: made.trouble = {"error", "not decided", limit.text, text}; break;
    case LimitVerdict::kept: made.output = text; break;
  }
  return made;
}

JunitCase run_case(const RunSummary& summary) {
  JunitCase made{.name = "run"};
  const std::string undecided = why_inconclusive(summary);
  if (summary.verdict == Verdict::incomplete) {
    std::string all;
    for (const std::string& error : summary.errors) all += error + "\n";
    made.trouble = {"error", "incomplete", outcome(summary), all};
  } else if (!undecided.empty() && summary.exit_code == exit_code(Exit::inconclusive)) {
    made.trouble = {"error", "not decided", undecided, ""};
  } else if (summary.verdict == Verdict::wrong && summary.wrong_rows == 0) {
    made.trouble = {"failure", "wrong data", summary.first_wrong, ""};
  } else {
    const std::string why = unreliable_text(summary);
    made.output =
        fmt::format("{}{}{} of {} verified, exit code {}", why, why.empty() ? "" : "; ",
                    summary.verified_calls, counted(summary.calls, "call"), summary.exit_code);
  }
  return made;
}

// Returns what is wrong with the cell's data: a line for each rank; empty: nothing, or not checked.
std::string wrong_text(const Measurement& cell) {
  if (cell.wrong.value_or(0) == 0) return {};
  std::string text;
  for (const Mismatch& mismatch : cell.mismatches)
    text += fmt::format("{}{}", text.empty() ? "" : "\n", mismatch_text(mismatch));
  return text.empty() ? counted(*cell.wrong, "wrong element") : text;
}

std::string cell_text(const Measurement& cell) {
  std::string text = time_text(cell);
  if (is_timed(cell)) text += fmt::format(", busbw {:.4g} GB/s", cell.busbw);
  if (cell.stream)
    for (const std::string& flag : cell.stream->flags) text += ", " + flag;
  if (!cell.wrong) text += ", not verified";
  return text;
}

std::string properties(const RunInfo& run) {
  std::string text = "    <properties>\n";
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, xml_text(value));
  };
  add("version", run.version);
  add("library", run.backend + " " + run.library_version);
  add("ranks", std::to_string(run.ranks));
  add("run_id", run.run_id);
  for (const std::string& warning : warnings(run)) add("warning", warning);
  return text + "    </properties>\n";
}

// A test case for each cell of a row. The counts, which come before the cases, are written again
// after each row: blanks after them keep their place.
class Junit : public DocumentFormat {
 public:
  std::string head() const override { return head_with({}); }

  std::string head_of(std::string_view items, std::string_view tail) override {
    const JunitCounts more = junit_counts(items), last = junit_counts(tail);
    rows_.tests += more.tests;
    rows_.failures += more.failures;
    rows_.errors += more.errors;
    return head_with(
        {rows_.tests + last.tests, rows_.failures + last.failures, rows_.errors + last.errors});
  }

  std::vector<DocumentItem> items(const Row& row) const override {
    std::vector<DocumentItem> all;
    std::string more;
    for (const std::string& one : distinctions(run)) more += " " + one;
    for_each_cell(row, [&](bool in_place, const Measurement& cell) {
      JunitCase made{.name = fmt::format("{} {}{}{}", row_name(row, row.bytes),
                                         placement_words(in_place), more,
                                         row.cycle > 0 ? fmt::format(" cycle {}", row.cycle) : "")};
      const std::string wrong = wrong_text(cell);
      if (wrong.empty())
        made.output = cell_text(cell);
      else
        made.trouble = {"failure", "wrong data", wrong.substr(0, wrong.find('\n')),
                        wrong + "\n" + cell_text(cell)};
      all.push_back(
          {case_text(std::move(made), timed_seconds(cell, run.options.measure.aggregate))});
    });
    return all;
  }

  // Returns what no row says: limits, bits that vary, and how the run ended.
  std::string tail(const RunSummary* summary) const override {
    const std::string end = "  </testsuite>\n</testsuites>\n";
    if (summary == nullptr)
      return case_text(
                 {.name = "run",
                  .trouble = {{"error", "incomplete", "the run has not reached its end", ""}}}) +
             end;
    std::string text;
    for (const LimitFinding& limit : summary->limits) text += case_text(limit_case(limit));
    if (summary->reproduction && summary->reproduction->varying > 0)
      text += case_text(
          {.name = "reproducible",
           .trouble = {{"failure", "bits vary", summary->reproduction->first_varying, ""}}});
    return text + case_text(run_case(*summary)) + end;
  }

 private:
  std::string head_with(const JunitCounts& all) const {
    constexpr int widest = 60;  // of numbers below 10^10
    return fmt::format(
        "{4}<testsuites name=\"ccl-tests\" {0:<{1}}>\n"
        "  <testsuite name=\"{2}\" skipped=\"0\" {0:<{1}}>\n{3}",
        junit_attributes(all), widest, xml_text(run.program.empty() ? "ccl-tests" : run.program),
        run.program.empty() ? "" : properties(run), xml_declaration);
  }

  std::string case_text(JunitCase one, double seconds = 0) const {
    one.classname = fmt::format("{}.{}", run.program.empty() ? "ccl-tests" : run.program,
                                run.backend.empty() ? "start" : run.backend);
    one.seconds = fmt::format("{:.6f}", seconds > 0 ? seconds : 0);
    return junit_text(one, "    ");
  }

  JunitCounts rows_;
};

}  // namespace

std::string junit_text(const JunitCase& one, std::string_view indent) {
  std::string text =
      fmt::format("{}<testcase classname=\"{}\" name=\"{}\"{}>", indent, xml_text(one.classname),
                  xml_text(one.name), time_attribute(one.seconds));
  if (one.trouble) text += trouble_text(*one.trouble);
  if (one.output) text += fmt::format("<system-out>{}</system-out>", xml_text(*one.output));
  return text + "</testcase>\n";
}

JunitCounts junit_counts(std::string_view cases) {
  const auto number = [&](std::string_view what) {  // no text has `what`: "<" is escaped there
    std::size_t found = 0;
    for (std::size_t at = 0; (at = cases.find(what, at)) != std::string_view::npos; ++at) ++found;
    return found;
  };
  return {number("<testcase "), number("<failure "), number("<error "), number("<skipped ")};
}

std::string junit_attributes(const JunitCounts& counts) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", counts.tests, counts.failures,
                     counts.errors);
}

std::string junit_text(const JunitSuite& suite, std::string_view indent) {
  const JunitCounts counts = junit_counts(suite.cases);
  std::string text =
      fmt::format("{}<testsuite name=\"{}\" {} skipped=\"{}\"{}>\n", indent, xml_text(suite.name),
                  junit_attributes(counts), counts.skipped, time_attribute(suite.seconds));
  text += suite.cases;
  if (!suite.output.empty())
    text += fmt::format("{}  <system-out>{}</system-out>\n", indent, xml_lines(suite.output));
  return text + fmt::format("{}</testsuite>\n", indent);
}

std::unique_ptr<Reporter> junit_reporter(OutputFile file) {
  return document_reporter(std::move(file), std::make_unique<Junit>());
}

}  // namespace ccl_tests
