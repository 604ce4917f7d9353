#include "tools/acceptance/report/junit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/report/text.hpp"
#include "tools/acceptance/report/findings.hpp"
#include "tools/acceptance/report/headline.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {
namespace {

struct Suite {
  std::string name;
  std::vector<Check> checks = {};
  double begin_s = 0, end_s = 0;
};

double seconds(double begin_s, double end_s) {
  const double length = end_s - begin_s;
  return length > 0 && length < 1e9 ? length : 0;
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

std::vector<Suite> suites(const Record& record) {
  std::vector<Suite> all;
  for (const Stage& stage : record.stages)
    all.push_back({stage.name, {}, stage.begin_s, stage.end_s});
  for (const Check& check : record.checks) {
    auto suite = std::find_if(all.begin(), all.end(),
                              [&](const Suite& one) { return one.name == check.stage; });
    if (suite == all.end()) suite = all.insert(all.end(), Suite{check.stage});
    suite->checks.push_back(check);
  }
  all.push_back({"run", {run_check(record)}, record.begin_s, record.end_s});
  return all;
}

std::size_t count(const std::vector<Check>& checks, Verdict verdict) {
  return static_cast<std::size_t>(std::count_if(
      checks.begin(), checks.end(), [&](const Check& check) { return check.verdict == verdict; }));
}

std::string details(const Check& check) {
  std::string text = fmt::format("{} {}: {}", name(check.verdict), check.subject, check.text);
  for (const Quantity& line : quantities(check.numbers))
    text += fmt::format("; {} {}", line.name, line.text);
  return text;
}

std::string case_text(const Suite& suite, const Check& check) {
  const std::string message = xml_text(fmt::format("{}: {}", check.subject, check.text));
  const std::string reason = xml_text(check.reason);
  std::string text =
      fmt::format("    <testcase classname=\"ccl_acceptance.{}\" name=\"{}\" time=\"{:.3f}\">",
                  xml_text(suite.name), xml_text(check.id), seconds(check.begin_s, check.end_s));
  switch (check.verdict) {
    case Verdict::fail:
      text += fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", reason, message,
                          xml_text(details(check)));
      break;
    case Verdict::inconclusive:
      text += fmt::format("<error type=\"{}\" message=\"{}\">{}</error>", reason, message,
                          xml_text(details(check)));
      break;
    case Verdict::skipped: text += fmt::format("<skipped message=\"{}\"/>", message); break;
    case Verdict::warn:
    case Verdict::pass:
      text += fmt::format("<system-out>{}</system-out>", xml_text(details(check)));
      break;
  }
  return text + "</testcase>\n";
}

// Jenkins' schema (junit-10.xsd of its xUnit plugin) has no count of skipped cases for all suites together.
std::string counts(const std::vector<Check>& checks) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\"", checks.size(),
                     count(checks, Verdict::fail), count(checks, Verdict::inconclusive));
}

}  // namespace

std::string junit_text(const Record& record) {
  std::vector<Check> all = record.checks;
  all.push_back(run_check(record));
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ccl_acceptance\" {} "
      "time=\"{:.3f}\">\n",
      counts(all), seconds(record.begin_s, record.end_s));
  for (const Suite& suite : suites(record)) {
    text += fmt::format("  <testsuite name=\"{}\" {} skipped=\"{}\" time=\"{:.3f}\">\n",
                        xml_text(suite.name), counts(suite.checks),
                        count(suite.checks, Verdict::skipped), seconds(suite.begin_s, suite.end_s));
    for (const Check& check : suite.checks) text += case_text(suite, check);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace ccl_tests::acceptance
