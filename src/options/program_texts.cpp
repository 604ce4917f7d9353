#include "src/options/program_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/options/flags.hpp"

namespace ccl_tests {
namespace {

constexpr ExitText exits[] = {{"0", "passed"},
                              {"2", "usage"},
                              {"3", "unsupported here"},
                              {"4", "a library or a peer failed"},
                              {"5", "timed out"},
                              {"6", "slower than a limit"},
                              {"7", "wrong or varying data"},
                              {"8", "inconclusive"},
                              {"128 + signal", "when interrupted"}};

std::vector<Example> examples_of(const Collective& c, const std::string& program) {
  const bool sizes = taken_by(c).sizes.empty();
  const std::string sweep = program + (sizes ? " -b 8 -e 64M" : "");
  std::vector<Example> all = {
      {sweep, sizes ? "this machine, 8 B, 16 B, ... 64 MiB" : "this machine"},
      {sweep + " --np 4 -J run.jsonl", "4 local processes; writes a file"},
      {fmt::format("mpirun -n 4 {} --backend mpi", sweep), "MPI starts ranks and moves data"}};
  if (!sizes) {
    if (c.domain.sweeps)
      all.push_back({program + " -n 1000 -I 1", "with statistics of single calls"});
    return all;
  }
  if (c.domain.paired) {
    all.push_back({program + " --np 4 --pairs all --sizes 1M", "which pair is slow?"});
  } else if (c.domain.types.empty()) {
    const bool all_ops = c.domain.reduces && c.domain.ops.empty();
    all.push_back({fmt::format("{} -b 1M -e 1M -d all{}", program, all_ops ? " -o all" : ""),
                   all_ops ? "is every type and operation right?" : "is every type right?"});
  }
  if (c.flags.routing)
    all.push_back({program + " --tokens 4K --routing zipf:1", "4096 tokens a rank, busy experts"});
  else
    all.push_back({program + " --sizes 64M --min-busbw 64M:1.0", "CI gate: exit 6 below 1.0 GB/s"});
  return all;
}

constexpr std::size_t page_width = 100;

struct PageTitle {
  Page page;
  std::string_view title;
};
constexpr PageTitle page_titles[] = {{Page::what, "What runs"},
                                     {Page::where, "Where it runs"},
                                     {Page::measured, "How it is measured and checked"},
                                     {Page::output, "What comes out"}};

// "-n, --iters N", "    --np N", "NCCL_TESTS_MIN_BW GB/s".
std::string names_of(const Flag& flag, std::string_view before_long) {
  const std::string& first = flag.names.front();
  const std::string text = first.starts_with("--") ? fmt::format("{}{}", before_long, first)
                                                   : fmt::format("{}", fmt::join(flag.names, ", "));
  return flag.has_value() ? text + ' ' + flag.value : text;
}

std::string bracketed(const std::string& text) { return text.empty() ? text : " [" + text + "]"; }

// A flag's line, its text from `column` on.
std::string described(const std::string& names, const std::string& text, std::size_t column) {
  const std::string indent(column, ' ');
  const std::string start = names.size() + 2 < column ? fmt::format("  {:{}}", names, column - 2)
                                                      : "  " + names + '\n' + indent;
  return wrapped(start, text, column, indent);
}

// A meaning that does not fit after its command has a line of its own.
std::string example_lines(const std::vector<Example>& all) {
  std::size_t width = 0;
  for (const Example& example : all) width = std::max(width, example.command.size());
  std::string text;
  for (const Example& example : all) {
    const bool fits = 2 + width + 2 + example.meaning.size() <= page_width;
    const std::string between = fits ? "  " : "\n      ";
    text +=
        fmt::format("  {:{}}{}{}\n", example.command, fits ? width : 0, between, example.meaning);
  }
  return text;
}

// A line break follows a code's meaning only.
std::string exit_codes(const ProgramTexts& program) {
  std::string text = "Exit codes:";
  std::size_t column = text.size();
  for (std::size_t i = 0; i < program.exits.size(); ++i) {
    const bool last = i + 1 == program.exits.size();
    const std::string_view end = last ? "" : program.exits[i + 1].code.size() > 1 ? ";" : ",";
    const std::string item =
        fmt::format(" {} {}{}", program.exits[i].code, program.exits[i].meaning, end);
    if (column + item.size() > page_width) {
      text += "\n ";
      column = 1;
    }
    text += item;
    column += item.size();
  }
  return text + '\n';
}

// The names of the flags that the page does not describe, by group.
std::string more_line(const FlagSet& set) {
  std::string text;
  for (const GroupTitle& group : group_titles) {
    std::string names;
    for (const Flag& flag : set.all()) {
      if (flag.group == group.group && flag.page == Page::none && flag.is_offered() &&
          flag.names.front() != "--help-all")
        names += ' ' + flag.names.front();
    }
    if (names.empty() || group.brief.empty()) continue;
    text += fmt::format("{}{}{}", text.empty() ? "" : " | ", group.brief, names);
  }
  return text.empty() ? text : wrapped("More:  ", text, 7, "  ");
}

}  // namespace

ProgramTexts texts_of(const Collective& c) {
  ProgramTexts texts;
  texts.name = fmt::format("{}_perf", c.name);
  texts.about = !c.domain.sweeps ? fmt::format("times {}", c.about)
                                 : fmt::format("tests and times {}{}{}", c.name,
                                               c.about.empty() ? "" : ": ", c.about);
  texts.examples = examples_of(c, texts.name);
  texts.exits = exits;
  return texts;
}

std::string wrapped(std::string_view start, std::string_view text, std::size_t used,
                    std::string_view indent) {
  std::string lines(start);
  std::size_t column = used;
  bool line_begins = true;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!line_begins && column + 1 + word.size() > page_width) {
      lines += fmt::format("\n{}", indent);
      column = indent.size();
      line_begins = true;
    }
    lines += line_begins ? "" : " ";
    lines += word;
    column += word.size() + (line_begins ? 0 : 1);
    line_begins = false;
    at = end + 1;
  }
  return lines + '\n';
}

std::string escaped(std::string_view text, std::string_view characters) {
  std::string result;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string help_page(const ProgramTexts& program, const FlagSet& set) {
  constexpr std::size_t column = 27;
  std::string text = fmt::format("{0} - {1}\nUsage: {0} [options]\n\n{2}\n", program.name,
                                 program.about, example_lines(program.examples));
  for (const PageTitle& page : page_titles) {
    std::string lines;
    for (const Flag& flag : set.all()) {
      if (flag.page != page.page || !flag.is_offered()) continue;
      const std::string& help = flag.brief.empty() ? flag.help : flag.brief;
      lines += described(names_of(flag, ""), help + bracketed(flag.default_text()), column);
    }
    if (!lines.empty()) text += fmt::format("{}\n{}", page.title, lines);
  }
  return text + '\n' + more_line(set) + exit_codes(program) +
         "Columns and method: docs/METHOD.md   Launchers: docs/LAUNCHING.md   "
         "Flags: docs/COMPATIBILITY.md\n";
}

std::string help_all(const ProgramTexts& program, const FlagSet& set) {
  constexpr std::size_t column = 30;
  const bool has_page = set.find("--help-all") != nullptr;
  std::string text =
      fmt::format("{0} - {1}\nUsage: {0} [options]{2}{3}\n", program.name, program.about,
                  program.operands.empty() ? "" : " " + program.operands,
                  has_page ? "          (--help: one page, with examples)" : "");
  if (!has_page) text += '\n' + example_lines(program.examples);
  for (const GroupTitle& group : group_titles) {
    std::string lines;
    for (const Flag& flag : set.all()) {
      if (flag.group != group.group || !flag.is_offered()) continue;
      lines +=
          described(names_of(flag, "    "), flag.help + bracketed(flag.default_text()), column);
    }
    if (!lines.empty()) text += fmt::format("\n{}\n{}", group.title, lines);
  }
  return text + '\n' + exit_codes(program);
}

}  // namespace ccl_tests
