// JUnit's XML as CI services read it (Jenkins: junit-10.xsd of its xUnit plugin): a test case for each cell of a row. The counts, which come
// before the cases, are written again after each row: blanks behind them keep their place.
#include <fmt/format.h>

#include <string>

#include "src/core/error.hpp"
#include "src/record/quantity_text.hpp"
#include "src/record/row_text.hpp"
#include "src/report/exports/document.hpp"
#include "src/report/headline.hpp"
#include "src/report/reporter.hpp"
#include "src/report/text.hpp"

namespace ccl_tests {
namespace {

// outcome: "failure" or "error".
std::string trouble(const char* outcome, const char* type, const std::string& message,
                    const std::string& details) {
  return fmt::format("<{0} type=\"{1}\" message=\"{2}\">{3}</{0}>", outcome, type,
                     xml_text(message), xml_lines(details));
}

std::string limit_outcome(const LimitFinding& limit) {
  const auto unit = [&](double number) {
    return fmt::format("{:.4g}{}{}", number, limit.unit.empty() ? "" : " ", limit.unit);
  };
  std::string text = limit.limit ? "limit " + unit(*limit.limit) : std::string();
  if (limit.value) text += ", found " + unit(*limit.value);
  if (limit.low && limit.high)
    text += fmt::format(", 95 % interval {} to {}", unit(*limit.low), unit(*limit.high));
  switch (limit.verdict) {
    case LimitVerdict::missed: return trouble("failure", "too slow", limit.text, text);
    case LimitVerdict::undecided: return trouble("error", "not decided", limit.text, text);
    case LimitVerdict::kept: break;
  }
  return fmt::format("<system-out>{}</system-out>", xml_text(text));
}

std::string numbers(const Measurement& cell) {
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

struct Cases {
  std::size_t tests = 0, failures = 0, errors = 0;
};

// No other text has these: "<" is escaped there.
Cases cases_in(std::string_view text) {
  const auto number = [&](std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string_view::npos;
         at = text.find(what, at + 1))
      ++found;
    return found;
  };
  return {number("<testcase "), number("<failure "), number("<error ")};
}

class Junit : public DocumentFormat {
 public:
  std::string head(const RunInfo& run) override {
    program_ = run.program;
    properties_ = run.program.empty() ? "" : properties(run);
    backend_ = run.backend;
    aggregate_ = run.options.measure.aggregate;
    return head_with({});
  }

  std::string head_of(std::string_view items, std::string_view tail) override {
    const Cases more = cases_in(items), last = cases_in(tail);
    rows_.tests += more.tests;
    rows_.failures += more.failures;
    rows_.errors += more.errors;
    return head_with(
        {rows_.tests + last.tests, rows_.failures + last.failures, rows_.errors + last.errors});
  }

  std::vector<DocumentItem> items(const Row& row) const override {
    std::vector<DocumentItem> all;
    for_each_cell(row, [&](std::string_view placement, const Measurement& cell) {
      const std::string wrong = wrong_text(cell);
      const std::string outcome =
          wrong.empty() ? fmt::format("<system-out>{}</system-out>", xml_text(numbers(cell)))
                        : trouble("failure", "wrong data", wrong.substr(0, wrong.find('\n')),
                                  wrong + "\n" + numbers(cell));
      all.push_back(
          {test_case(fmt::format("{} {}{}", row_name(row, row.bytes), placement_words(placement),
                                 row.cycle > 0 ? fmt::format(" cycle {}", row.cycle) : ""),
                     timed_seconds(cell, aggregate_), outcome)});
    });
    return all;
  }

  // What no row says: limits, bits that vary, and how the run ended.
  std::string tail(const RunSummary* summary) const override {
    const std::string end = "  </testsuite>\n</testsuites>\n";
    if (summary == nullptr)
      return test_case("run", 0,
                       trouble("error", "incomplete", "the run has not reached its end", "")) +
             end;
    std::string text;
    for (const LimitFinding& limit : summary->limits)
      text += test_case(
          fmt::format("limit {}{}{}", limit.flag, limit.row.empty() ? "" : " ", limit.row), 0,
          limit_outcome(limit));
    if (summary->reproduction && summary->reproduction->varying > 0)
      text += test_case("reproducible", 0,
                        trouble("failure", "bits vary", summary->reproduction->first_varying, ""));
    std::string outcome;
    if (summary->verdict == Verdict::incomplete) {
      std::string all;
      for (const std::string& error : summary->errors) all += error + "\n";
      outcome = trouble("error", "incomplete", summary->failure, all);
    } else if (summary->nothing_spoiled && summary->exit_code == exit_code(Exit::inconclusive)) {
      outcome = trouble("error", "not decided", std::string(nothing_spoiled), "");
    } else if (summary->verdict == Verdict::wrong && summary->wrong_rows == 0) {
      outcome = trouble("failure", "wrong data", summary->first_wrong, "");
    } else {
      const std::string why = unreliable_text(*summary);
      outcome = fmt::format("<system-out>{}{}{} of {} verified, exit code {}</system-out>",
                            xml_text(why), why.empty() ? "" : "; ", summary->verified_calls,
                            counted(summary->calls, "call"), summary->exit_code);
    }
    return text + test_case("run", 0, outcome) + end;
  }

 private:
  std::string head_with(const Cases& all) const {
    constexpr int widest = 60;  // of numbers below 10^10
    const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", all.tests,
                                           all.failures, all.errors);
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"ccl-tests\" {0:<{1}}>\n"
        "  <testsuite name=\"{2}\" skipped=\"0\" {0:<{1}}>\n{3}",
        counts, widest, xml_text(program_.empty() ? "ccl-tests" : program_), properties_);
  }

  std::string test_case(const std::string& name, double seconds, const std::string& outcome) const {
    return fmt::format(
        "    <testcase classname=\"{}.{}\" name=\"{}\" time=\"{:.6f}\">{}</testcase>\n",
        xml_text(program_.empty() ? "ccl-tests" : program_),
        xml_text(backend_.empty() ? "start" : backend_), xml_text(name), seconds > 0 ? seconds : 0,
        outcome);
  }

  std::string program_, backend_, properties_;
  Cases rows_;
  int aggregate_ = 1;
};

}  // namespace

std::unique_ptr<Reporter> junit_reporter(OutputFile file) {
  return document_reporter(std::move(file), std::make_unique<Junit>());
}

}  // namespace ccl_tests
