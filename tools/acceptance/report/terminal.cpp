#include "tools/acceptance/report/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/report/text.hpp"
#include "tools/acceptance/report/headline.hpp"
#include "tools/acceptance/report/words.hpp"

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

}  // namespace ccl_tests::acceptance
