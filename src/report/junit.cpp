#include "src/report/junit.hpp"

#include <fmt/format.h>

#include "src/report/text.hpp"

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

}  // namespace ccl_tests
