#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/report/text.hpp"
#include "tools/acceptance/report/findings.hpp"
#include "tools/acceptance/report/html_parts.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t most_cards = 8;

double value_of(const Check& check, std::string_view name) {
  const auto found = std::find_if(check.numbers.begin(), check.numbers.end(),
                                  [&](const Number& number) { return number.name == name; });
  return found == check.numbers.end() ? std::nan("") : found->value;
}

// A bar of what was measured, with a line where the limit is.
std::string meter(const Check& check) {
  const double measured = value_of(check, "busbw"), limit = value_of(check, "limit");
  if (!(measured >= 0) || !(limit > 0) || !std::isfinite(measured) || !std::isfinite(limit))
    return {};
  const double whole = std::max(measured, limit) * 1.05;
  return fmt::format(
      "<div class=\"meter\" role=\"img\" aria-label=\"{0} of {1}\" title=\"{0} of {1}\"><i "
      "style=\"width:{2:.1f}%\"></i><b style=\"left:{3:.1f}%\"></b></div>",
      rate_text(measured), rate_text(limit), 100 * measured / whole, 100 * limit / whole);
}

std::string card(const Check& check) {
  std::string text = fmt::format(
      "<article class=\"card {}\"><header>{} <h3>{}</h3><code class=\"reason\">{}</code></header>"
      "<p>{}</p>{}",
      css_class(check.verdict), chip(check.verdict), xml_text(check.subject),
      xml_text(check.reason), xml_text(check.text), meter(check));
  const std::vector<Quantity> lines = quantities(check.numbers);
  if (!lines.empty()) text += "<dl class=\"numbers\">";
  for (const Quantity& line : lines)
    text += fmt::format("<dt>{}</dt><dd>{}</dd>", xml_text(line.name), xml_text(line.text));
  if (!lines.empty()) text += "</dl>";
  return text + fmt::format("<p class=\"note\">stage {}, {}</p></article>\n", xml_text(check.stage),
                            utc_text(check.begin_s));
}

// The first checks, and how many more there are.
std::string cards(const std::vector<const Check*>& checks) {
  if (checks.empty()) return {};
  std::string text = "<div class=\"cards\">\n";
  for (std::size_t i = 0; i < std::min(most_cards, checks.size()); ++i) text += card(*checks[i]);
  text += "</div>\n";
  if (checks.size() > most_cards)
    text += fmt::format("<p class=\"note\">And {} more in the table of checks below.</p>\n",
                        checks.size() - most_cards);
  return text;
}

std::string row(const Check& check) {
  std::string numbers;
  for (const Quantity& line : quantities(check.numbers))
    numbers += (numbers.empty() ? "" : "<br>") +
               fmt::format("{} {}", xml_text(line.name), xml_text(line.text));
  return fmt::format(
      "<tr{}><td>{}</td><td data-label=\"stage\">{}</td><td class=\"words\"><strong>{}</strong></td><td "
      "class=\"code\">{}</td><td class=\"words\">{}</td><td>{}</td></tr>\n",
      check.verdict <= Verdict::pass ? " class=\"quiet\"" : "", chip(check.verdict),
      xml_text(check.stage), xml_text(check.subject), xml_text(check.reason), xml_text(check.text),
      numbers);
}

}  // namespace

std::string_view css_class(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass: return "pass";
    case Verdict::warn: return "warn";
    case Verdict::inconclusive: return "inconclusive";
    case Verdict::fail: return "fail";
    case Verdict::skipped: break;
  }
  return "skipped";
}

std::string chip(Verdict verdict) {
  std::string_view sign = "\xe2\x80\x93";  // a dash
  switch (verdict) {
    case Verdict::pass: sign = "\xe2\x9c\x93"; break;
    case Verdict::warn: sign = "!"; break;
    case Verdict::inconclusive: sign = "?"; break;
    case Verdict::fail: sign = "\xe2\x9c\x95"; break;
    case Verdict::skipped: break;
  }
  return fmt::format("<span class=\"chip {}\">{} {}</span>", css_class(verdict), sign,
                     name(verdict));
}

std::string wrong_section(const Record& record) {
  const std::vector<const Check*> all = wrong_checks(record);
  std::vector<const Check*> wrong;
  std::vector<const Check*> undecided;
  for (const Check* const check : all)
    (check->verdict == Verdict::inconclusive ? undecided : wrong).push_back(check);
  std::string text = "<h2>What is wrong</h2>\n";
  if (!record.complete)
    text +=
        "<p class=\"note\">The run ended early: the plan's last stage did not end, and what was not "
        "looked at is not judged.</p>\n";
  if (wrong.empty())
    text += fmt::format("<p>{}</p>\n", record.checks.empty()
                                           ? "Nothing was measured: no check was made."
                                           : "No check found anything wrong.");
  text += cards(wrong);
  if (!undecided.empty()) text += "<h2>What is not decided</h2>\n" + cards(undecided);
  return text;
}

std::string checks_section(const Record& record) {
  if (record.checks.empty()) return "<h2>All checks</h2>\n<p class=\"empty\">None was made.</p>\n";
  std::vector<const Check*> all;
  for (const Check& check : record.checks) all.push_back(&check);
  std::stable_sort(all.begin(), all.end(),
                   [](const Check* a, const Check* b) { return a->verdict > b->verdict; });
  std::string text =
      "<h2>All checks</h2>\n<p class=\"note\">The worst first. docs/ACCEPTANCE.md explains the "
      "reasons.</p>\n<p class=\"note paper\">On paper those that are PASS or SKIPPED are left out.</p>\n<table class=\"stack checks\"><thead><tr><th>Verdict</th><th>Stage</th><th>"
      "About</th><th>Reason</th><th>Finding</th><th>Numbers</th></tr></thead><tbody>\n";
  for (const Check* const check : all) text += row(*check);
  return text + "</tbody></table>\n";
}

}  // namespace ccl_tests::acceptance
