#include <fmt/format.h>

#include <algorithm>

#include "src/report/text.hpp"
#include "tools/acceptance/report/findings.hpp"
#include "tools/acceptance/report/html_parts.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {
namespace {

// From the first stage's begin to the last end. Nothing if no stage has times.
struct Span {
  double begin = 0, end = 0;
};

bool timed(const Stage& stage) { return stage.begin_s > 0 && stage.end_s >= stage.begin_s; }

Span span_of(const std::vector<Stage>& stages) {
  Span span;
  for (const Stage& stage : stages) {
    if (!timed(stage)) continue;
    span.begin = span.begin > 0 ? std::min(span.begin, stage.begin_s) : stage.begin_s;
    span.end = std::max(span.end, stage.end_s);
  }
  return span;
}

std::string bar(const Stage& stage, const Span& span) {
  const double length = span.end - span.begin;
  if (!timed(stage) || !(length > 0)) return {};
  return fmt::format("<div class=\"track {}\"><i style=\"left:{:.2f}%;width:{:.2f}%\"></i></div>",
                     css_class(stage.verdict), 100 * (stage.begin_s - span.begin) / length,
                     100 * (stage.end_s - stage.begin_s) / length);
}

}  // namespace

std::string stages_section(const Record& record) {
  if (record.stages.empty()) return "<h2>Stages</h2>\n<p class=\"empty\">No stage was run.</p>\n";
  const Span span = span_of(record.stages);
  std::string text =
      "<h2>Stages</h2>\n<table class=\"stack stages\"><thead><tr><th>Verdict</th><th>Stage</th>"
      "<th class=\"num\">Duration</th><th class=\"line-time\">When</th><th>What was run</th></tr>"
      "</thead><tbody>\n";
  for (const Stage& stage : record.stages)
    text += fmt::format(
        "<tr><td>{}</td><td><strong>{}</strong></td><td class=\"num\">{}</td><td>{}</td><td>{}</td>"
        "</tr>\n",
        chip(stage.verdict), xml_text(stage.name), stage_duration(stage), bar(stage, span),
        xml_text(stage.text));
  const std::string contained = containment_text(record);
  return text + "</tbody></table>\n" +
         (contained.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", xml_text(contained)));
}

}  // namespace ccl_tests::acceptance
