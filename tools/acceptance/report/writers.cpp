#include "tools/acceptance/report/writers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/report/junit.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t width = 100;       // bytes of a line
constexpr std::size_t shown_wrong = 12;  // lines of what is wrong that one screen shows
constexpr std::size_t verdict_width = std::string_view("INCONCLUSIVE").size();

std::string stage_duration(const Stage& stage) {
  if (stage.verdict == Verdict::skipped && !(stage.begin_s > 0)) return "-";
  return duration_text(stage.begin_s, stage.end_s);
}

// The lines of one record for a terminal.
class Terminal {
 public:
  Terminal(const Record& record, const std::string& file) : record_(record), file_(file) {}

  std::string text() {
    whole_line(headline(record_));
    stages();
    wrong();
    next();
    return std::move(text_);
  }

 private:
  // Adds a line that begins with a verdict, cut to the width.
  void verdict_line(Verdict verdict, const std::string& rest) {
    text_ += fmt::format("  {:<{}}  {}\n", name(verdict), verdict_width,
                         shortened(single_line(rest), width - verdict_width - 4));
  }
  void line(const std::string& words) { text_ += shortened(words, width) + "\n"; }
  // Adds a line that is copied to a shell or read by a program, and is not cut.
  void whole_line(const std::string& words) { text_ += words + "\n"; }

  void stages() {
    if (record_.stages.empty()) return;
    line("");
    line(fmt::format("Stages of plan {}: {}, {}, {}", single_line(record_.plan),
                     counted(record_.hosts.size(), "host"), counted(ranks_of(record_), "rank"),
                     duration_text(record_.begin_s, record_.end_s)));
    std::size_t names = 0, times = 0;
    for (const Stage& stage : record_.stages) {
      names = std::max(names, stage.name.size());
      times = std::max(times, stage_duration(stage).size());
    }
    for (const Stage& stage : record_.stages)
      verdict_line(stage.verdict,
                   fmt::format("{:<{}}  {:>{}}  {}", stage.name, std::min<std::size_t>(names, 24),
                               stage_duration(stage), times, stage.text));
    if (const std::string contained = containment_text(record_); !contained.empty())
      line("  " + single_line(contained));
  }

  void wrong() {
    const std::vector<const Check*> checks = wrong_checks(record_);
    const std::size_t early = record_.complete ? 0 : 1, room = shown_wrong - early;
    if (checks.size() + early == 0) return;
    line("");
    line(fmt::format("Look at ({})", checks.size() + early));
    for (std::size_t i = 0; i < std::min(room, checks.size()); ++i)
      verdict_line(checks[i]->verdict, fmt::format("{}: {} ({})", bare_subject(*checks[i]),
                                                   checks[i]->text, checks[i]->reason));
    if (checks.size() > room)
      line(fmt::format("  and {} more {}", checks.size() - room,
                       file_.empty() ? "(--verdict FILE lists them)" : "in " + single_line(file_)));
    if (early > 0)
      verdict_line(Verdict::inconclusive, "run: ended early; later stages are not judged");
  }

  void next() {
    line("");
    line("Next");
    const std::string exclude =
        "  leave out: " + single_line(fmt::format("{}", fmt::join(record_.excluded, ",")));
    if (!record_.excluded.empty() && exclude.size() <= width)
      whole_line(exclude);
    else if (!record_.excluded.empty())
      line(fmt::format("  leave out: {} (--hosts-out FILE lists them)",
                       counted(record_.excluded.size(), "host")));
    const NextStep step = next_step(record_);
    line("  " + step.what);
    if (!step.command.empty()) whole_line("  " + single_line(step.command));
  }

  const Record& record_;
  const std::string& file_;
  std::string text_;
};

std::string seconds(double begin_s, double end_s) {
  const double length = end_s - begin_s;
  return fmt::format("{:.3f}", length > 0 && length < 1e9 ? length : 0);
}

std::string case_text(const std::string& stage, const Check& check) {
  JunitCase made{.classname = "ccl_acceptance." + stage,
                 .name = check.id,
                 .seconds = seconds(check.begin_s, check.end_s)};
  const std::string message = fmt::format("{}: {}", check.subject, check.text);
  std::string all = fmt::format("{} {}", name(check.verdict), message);
  for (const std::string& text : quantities(check.numbers)) all += "; " + text;
  all = single_line(all);
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
    auto suite = std::ranges::find(all, check.stage, &JunitSuite::name);
    if (suite == all.end())
      suite = all.insert(all.end(), {.name = check.stage, .seconds = seconds(0, 0)});
    suite->cases += case_text(check.stage, check);
  }
  // One more check says what no check does: it ended early, or nothing was looked at.
  const Check run{.id = "run",
                  .verdict = shown_verdict(record),
                  .reason = record.reason,
                  .text = headline(record),
                  .begin_s = record.begin_s,
                  .end_s = record.end_s};
  all.push_back(
      {.name = "run", .seconds = seconds(run.begin_s, run.end_s), .cases = case_text("run", run)});
  return all;
}

// A name with a comma, a blank or a bracket would exclude other hosts than meant.
void check_name(const std::string& name) {
  constexpr std::string_view accepted =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  if (!name.empty() && name.front() != '-' && name.find_first_not_of(accepted) == std::string::npos)
    return;
  throw Error(fmt::format(
      "cannot write {} to a list of hosts: a host's name has letters, digits, '.', '_' and '-'; "
      "exclude the host by hand",
      quote(name)));
}

}  // namespace

std::string terminal_text(const Record& record, const std::string& file) {
  return Terminal(record, file).text();
}

std::string junit_text(const Record& record) {
  std::string text;
  for (const JunitSuite& suite : suites(record)) text += junit_text(suite, "  ");
  return fmt::format("{}<testsuites name=\"ccl_acceptance\" {} time=\"{}\">\n{}</testsuites>\n",
                     xml_declaration, junit_attributes(junit_counts(text)),
                     seconds(record.begin_s, record.end_s), text);
}

// page.html with page_pictures.js: the build makes a source of them.
extern const std::string_view page_template;

std::string html_page(const Record& record) {
  std::string json = verdict_json(record), page(page_template);
  // The element that holds the JSON must not end within it: "<" occurs in strings only.
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos;)
    json.replace(at, 1, "\\u003c");
  const auto put = [&](std::string_view place, const std::string& text) {
    page.replace(page.find(place), place.size(), text);
  };
  // The last place first: what a record says may look like a place.
  put("{{verdict}}", json);
  put("{{text}}", xml_lines(terminal_text(record)));
  put("{{headline}}", xml_text(headline(record)));
  return page;
}

std::string hosts_text(const std::vector<std::string>& names, HostsFormat format) {
  for (const std::string& name : names) check_name(name);
  if (names.empty()) return {};
  if (format == HostsFormat::lines) return fmt::format("{}\n", fmt::join(names, "\n"));
  return fmt::format("--exclude={}\n", fmt::join(names, ","));
}

}  // namespace ccl_tests::acceptance
