#include "tools/acceptance/report/writers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/report/junit.hpp"
#include "src/report/text.hpp"
#include "tools/acceptance/report/headline.hpp"
#include "tools/acceptance/report/verdict_json.hpp"

namespace ccl_tests::acceptance {

namespace {

constexpr std::size_t verdict_width = std::string_view("INCONCLUSIVE").size();

class Screen {
 public:
  explicit Screen(const TerminalStyle& style) : style_(style) {}

  // A line that begins with a verdict, cut to the width.
  void verdict_line(Verdict verdict, const std::string& rest) {
    const std::string word = fmt::format("{:<{}}", name(verdict), verdict_width);
    const std::size_t used = verdict_width + 4;
    const std::size_t left = style_.width > used ? style_.width - used : 0;
    text_ += fmt::format("  {}  {}\n", word, shortened(single_line(rest), left));
  }
  void line(const std::string& words) { text_ += shortened(words, style_.width) + "\n"; }
  // A line that is copied to a shell or read by a program is not cut.
  void whole_line(const std::string& words) { text_ += words + "\n"; }

  std::string take() { return std::move(text_); }

 private:
  const TerminalStyle& style_;
  std::string text_;
};

void stages(Screen& screen, const Record& record) {
  if (record.stages.empty()) return;
  screen.line("");
  screen.line(fmt::format("Stages of plan {}: {}, {}, {}", single_line(record.plan),
                          counted(record.hosts.size(), "host"), counted(ranks_of(record), "rank"),
                          duration_text(record.begin_s, record.end_s)));
  std::size_t names = 0, times = 0;
  for (const Stage& stage : record.stages) {
    names = std::max(names, stage.name.size());
    times = std::max(times, stage_duration(stage).size());
  }
  for (const Stage& stage : record.stages)
    screen.verdict_line(stage.verdict, fmt::format("{:<{}}  {:>{}}  {}", stage.name,
                                                   std::min<std::size_t>(names, 24),
                                                   stage_duration(stage), times, stage.text));
  if (const std::string contained = containment_text(record); !contained.empty())
    screen.line("  " + single_line(contained));
}

void wrong(Screen& screen, const Record& record, const TerminalStyle& style) {
  const std::vector<const Check*> checks = wrong_checks(record);
  if (checks.empty() && record.complete) return;
  screen.line("");
  screen.line(fmt::format("Look at ({})", checks.size() + (record.complete ? 0 : 1)));
  const std::size_t room = shown_wrong - (record.complete ? 0 : 1);
  for (std::size_t i = 0; i < std::min(room, checks.size()); ++i)
    screen.verdict_line(checks[i]->verdict, fmt::format("{}: {} ({})", bare_subject(*checks[i]),
                                                        checks[i]->text, checks[i]->reason));
  if (checks.size() > room)
    screen.line(fmt::format(
        "  and {} more {}", checks.size() - room,
        style.file.empty() ? "(--verdict FILE lists them)" : "in " + single_line(style.file)));
  if (!record.complete)
    screen.verdict_line(Verdict::inconclusive, "run: ended early; later stages are not judged");
}

void next(Screen& screen, const Record& record, const TerminalStyle& style) {
  screen.line("");
  screen.line("Next");
  if (!record.excluded.empty()) {
    const std::string names = single_line(fmt::format("{}", fmt::join(record.excluded, ",")));
    const std::string exclude = fmt::format("  leave out: {}", names);
    if (exclude.size() <= style.width)
      screen.whole_line(exclude);
    else
      screen.line(fmt::format("  leave out: {} (--hosts-out FILE lists them)",
                              counted(record.excluded.size(), "host")));
  }
  const NextStep step = next_step(record);
  screen.line("  " + step.what);
  if (!step.command.empty()) screen.whole_line("  " + single_line(step.command));
}

}  // namespace

std::string terminal_text(const Record& record, const TerminalStyle& style) {
  Screen screen(style);
  screen.whole_line(headline(record));
  stages(screen, record);
  wrong(screen, record, style);
  next(screen, record, style);
  return screen.take();
}

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

// page.html with page_pictures.js: the build makes a source of them.
extern const std::string_view page_template;

namespace {

struct Part {
  std::string_view name;  // in the page, where the text belongs
  std::string text;
};

// Returns JSON that cannot end the element it stands in: "<" occurs in strings only.
std::string without_tags(std::string_view json) {
  std::string text;
  for (const char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

}  // namespace

std::string html_page(const Record& record) {
  Record shown = record;
  shown.headline = headline(record);
  const std::array<Part, 3> parts = {{{"{{headline}}", xml_text(shown.headline)},
                                      {"{{text}}", xml_lines(terminal_text(shown))},
                                      {"{{verdict}}", without_tags(verdict_json(shown))}}};
  std::string text;
  std::size_t begin = 0;
  for (const Part& part : parts) {
    const std::size_t end = page_template.find(part.name, begin);
    text += page_template.substr(begin, end - begin);
    text += part.text;
    begin = end + part.name.size();
  }
  text += page_template.substr(begin);
  return text;
}

namespace {

bool of_host_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// A name with a comma, a blank or a bracket would exclude other hosts than meant.
void check_name(const std::string& name) {
  if (!name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), of_host_name))
    return;
  throw Error(fmt::format(
      "cannot write {} to a list of hosts: a host's name has letters, digits, '.', '_' and '-'; "
      "exclude the host by hand",
      quote(name)));
}

}  // namespace

HostsFormat hosts_format(std::string_view name) {
  if (name == "lines") return HostsFormat::lines;
  if (name == "slurm") return HostsFormat::slurm;
  throw UsageError(
      fmt::format("{} is not a format of a list of hosts; accepted: lines, slurm", quote(name)));
}

std::string hosts_text(const std::vector<std::string>& names, HostsFormat format) {
  for (const std::string& name : names) check_name(name);
  if (names.empty()) return {};
  switch (format) {
    case HostsFormat::lines: return fmt::format("{}\n", fmt::join(names, "\n"));
    case HostsFormat::slurm: return fmt::format("--exclude={}\n", fmt::join(names, ","));
  }
  throw Error("a format of a list of hosts that is not known");
}

}  // namespace ccl_tests::acceptance
