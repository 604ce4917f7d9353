#include "tools/acceptance/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/record/quantity_text.hpp"
#include "src/report/text.hpp"
#include "tools/acceptance/report/curve_plot.hpp"
#include "tools/acceptance/report/findings.hpp"
#include "tools/acceptance/report/headline.hpp"
#include "tools/acceptance/report/heat_map.hpp"
#include "tools/acceptance/report/html_parts.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t hosts_of_small_maps = 10;  // two maps fit side by side

std::string tally(const Record& record) {
  std::string text;
  for (const Verdict verdict :
       {Verdict::fail, Verdict::inconclusive, Verdict::warn, Verdict::pass, Verdict::skipped}) {
    const auto count = std::count_if(record.checks.begin(), record.checks.end(),
                                     [&](const Check& check) { return check.verdict == verdict; });
    if (count > 0) text += fmt::format("<li>{} {}</li>", count, chip(verdict));
  }
  return fmt::format("<ul class=\"tally\"><li>{}{}</li>{}</ul>",
                     counted(record.checks.size(), "check"), text.empty() ? "" : ":", text);
}

std::string banner(const Record& record) {
  const Verdict verdict = shown_verdict(record);
  const std::string line = headline(record);  // begins with the verdict and a blank
  const std::string what = line.substr(std::min(line.size(), name(verdict).size() + 1));
  std::string library = record.backend;
  if (!record.library.empty()) library += (library.empty() ? "" : " ") + record.library;
  std::string sub = fmt::format("{}, {}", counted(record.hosts.size(), "host"),
                                counted(ranks_of(record), "rank"));
  if (!library.empty()) sub += " \xc2\xb7 " + library;
  sub += fmt::format(" \xc2\xb7 {} \xc2\xb7 {}", utc_text(record.begin_s),
                     duration_text(record.begin_s, record.end_s));
  return fmt::format(
      "<header class=\"banner {}\"><p class=\"kicker\">Cluster acceptance{}</p>\n<h1><span "
      "class=\"word\">{}</span> <span class=\"what\">{}</span></h1>\n<p class=\"sub\">{}</p>\n{}"
      "</header>\n",
      css_class(verdict), record.plan.empty() ? "" : ", plan " + xml_text(record.plan),
      name(verdict), xml_text(what), xml_text(sub), tally(record));
}

std::string next_section(const Record& record) {
  const auto [what, command] = next_step(record);
  std::string step = what;
  if (!step.empty() && step[0] >= 'a' && step[0] <= 'z')
    step[0] = static_cast<char>(step[0] - 'a' + 'A');
  std::string text = fmt::format("<h2>What to do next</h2>\n<p>{}.</p>\n", xml_text(step));
  if (!record.excluded.empty())
    text += fmt::format("<p class=\"note\">Hosts to leave out:</p><pre>{}</pre>\n",
                        xml_text(fmt::format("{}", fmt::join(record.excluded, ","))));
  if (!command.empty()) text += fmt::format("<pre>{}</pre>\n", xml_text(command));
  if (!record.command.empty() && command != record.command)
    text +=
        fmt::format("<p class=\"note\">This run was:</p><pre>{}</pre>\n", xml_text(record.command));
  return text;
}

std::string maps_section(const Record& record) {
  if (record.pairs.empty() || record.hosts.size() < 2) return {};
  const Suspects marked = suspects(record);
  std::string text =
      "<h2>Pairs of hosts</h2>\n<p class=\"note\">A row is a sender, a column a receiver. A host that "
      "sends slowly is a row of slow cells, one that receives slowly a column; a slow link is a "
      "single cell.";
  const bool rails = std::any_of(record.pairs.begin(), record.pairs.end(),
                                 [](const PairMatrix& matrix) { return matrix.rail > 0; });
  if (rails) text += " Rail 1 is between the second ranks of each host.";
  text += "</p>\n";
  text += fmt::format("<div class=\"maps{}\">\n",
                      record.hosts.size() <= hosts_of_small_maps ? " small" : "");
  for (const PairMatrix& matrix : record.pairs) {
    const double median = median_pair(matrix, record.hosts.size());
    text += fmt::format(
        "<figure><figcaption><strong>{}</strong></figcaption>{}<div class=\"scroll\">{}</div>"
        "</figure>\n",
        rails ? fmt::format("rail {}, {}", matrix.rail, binary_size_text(matrix.bytes))
              : binary_size_text(matrix.bytes),
        std::isnan(median) ? "" : heat_legend(median), heat_map_svg(matrix, record.hosts, marked));
  }
  return text + "</div>\n";
}

std::string curves_section(const Record& record) {
  if (record.curves.empty()) return {};
  return "<h2>Bus bandwidth over size</h2>\n<p class=\"note\">Both axes are logarithmic. The band is "
         "each time's interval, the dashed line the limit, a cross a size below its limit.</p>\n<div "
         "class=\"plots\">\n" +
         curve_figures(record.curves) + "</div>\n";
}

}  // namespace

std::string html_page(const Record& record) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta "
      "name=\"color-scheme\" content=\"light dark\">\n<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<title>{}</title>\n<style>{}"
      "</style>\n</head>\n<body>\n",
      xml_text(headline(record)), page_style());
  text += page_patterns();
  text += "<main>\n" + banner(record) + wrong_section(record) + next_section(record) +
          stages_section(record) + maps_section(record) + curves_section(record) +
          hosts_section(record) + environment_section(record) + checks_section(record);
  return text + fmt::format(
                    "<footer>Made by ccl_acceptance of ccl-tests {}. The page loads nothing from "
                    "elsewhere.</footer>\n</main>\n</body>\n</html>\n",
                    record.version.empty() ? "of an unknown version" : xml_text(record.version));
}

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
