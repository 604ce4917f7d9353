#include "tools/acceptance/report/junit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/report/junit.hpp"
#include "src/report/text.hpp"
#include "tools/acceptance/report/headline.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {
namespace {

std::string seconds(double begin_s, double end_s) {
  const double length = end_s - begin_s;
  return fmt::format("{:.3f}", length > 0 && length < 1e9 ? length : 0);
}

// The run as one more check: what no check says (it ended early, nothing was looked at) is said here.
Check run_check(const Record& record) {
  Check check;
  check.id = "run";
  check.subject = "run";
  check.verdict = shown_verdict(record);
  check.reason = record.reason;
  check.text = headline(record);
  check.begin_s = record.begin_s;
  check.end_s = record.end_s;
  return check;
}

std::string details(const Check& check) {
  std::string text = fmt::format("{} {}: {}", name(check.verdict), check.subject, check.text);
  for (const Quantity& line : quantities(check.numbers))
    text += fmt::format("; {} {}", line.name, line.text);
  return text;
}

std::string case_text(const std::string& stage, const Check& check) {
  JunitCase made{.classname = "ccl_acceptance." + stage,
                 .name = check.id,
                 .seconds = seconds(check.begin_s, check.end_s)};
  const std::string message = fmt::format("{}: {}", check.subject, check.text);
  const std::string all = single_line(details(check));
  switch (check.verdict) {
    case Verdict::fail: made.trouble = {"failure", check.reason, message, all}; break;
    case Verdict::inconclusive: made.trouble = {"error", check.reason, message, all}; break;
    case Verdict::skipped: made.trouble = {.outcome = "skipped", .message = message}; break;
    case Verdict::warn:
    case Verdict::pass: made.output = all; break;
  }
  return junit_text(made, "    ");
}

std::vector<JunitSuite> suites(const Record& record) {
  std::vector<JunitSuite> all;
  for (const Stage& stage : record.stages)
    all.push_back({.name = stage.name, .seconds = seconds(stage.begin_s, stage.end_s)});
  for (const Check& check : record.checks) {
    auto suite = std::find_if(all.begin(), all.end(),
                              [&](const JunitSuite& one) { return one.name == check.stage; });
    if (suite == all.end())
      suite = all.insert(all.end(), {.name = check.stage, .seconds = seconds(0, 0)});
    suite->cases += case_text(check.stage, check);
  }
  all.push_back({.name = "run",
                 .seconds = seconds(record.begin_s, record.end_s),
                 .cases = case_text("run", run_check(record))});
  return all;
}

}  // namespace

std::string junit_text(const Record& record) {
  std::string text;
  for (const JunitSuite& suite : suites(record)) text += junit_text(suite, "  ");
  return fmt::format("{}<testsuites name=\"ccl_acceptance\" {} time=\"{}\">\n{}</testsuites>\n",
                     xml_declaration, junit_attributes(junit_counts(text)),
                     seconds(record.begin_s, record.end_s), text);
}

}  // namespace ccl_tests::acceptance
