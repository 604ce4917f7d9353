#include "src/options/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "src/options/program_texts.hpp"
#include "src/options/taken.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t page_width = 100;

struct GroupTitle {
  Group group;
  std::string_view title, brief;
};
constexpr GroupTitle group_titles[] = {{Group::sizes, "Sizes", "sizes"},
                                       {Group::what, "What runs", "runs"},
                                       {Group::measuring, "Measuring", "time"},
                                       {Group::checking, "Checking", "check"},
                                       {Group::ranks, "Ranks and launching", "ranks"},
                                       {Group::library, "Library", "library"},
                                       {Group::output, "Output and limits", "output"},
                                       {Group::gpus, "GPUs", "GPU"},
                                       {Group::variables, "Environment variables", ""}};
struct PageTitle {
  Page page;
  std::string_view title;
};
constexpr PageTitle page_titles[] = {{Page::what, "What runs"},
                                     {Page::where, "Where it runs"},
                                     {Page::measured, "How it is measured and checked"},
                                     {Page::output, "What comes out"}};

constexpr std::string_view exit_codes =
    "Exit codes: 0 passed, 2 usage, 3 unsupported here, 4 a library or a peer failed, 5 timed "
    "out,\n"
    "  6 slower than a limit, 7 wrong data, 8 inconclusive; 128 + signal when interrupted\n";

// Lines of words; every line but the first begins with `indent` blanks. used: of the first.
std::string wrapped(const std::string& text, std::size_t used, std::size_t indent) {
  std::string result;
  std::size_t column = used;
  bool line_begins = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = std::string_view(text).substr(at, end - at);
    if (!line_begins && column + 1 + word.size() > page_width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
      line_begins = true;
    }
    if (!line_begins) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    line_begins = false;
    at = end + 1;
  }
  return result;
}

bool is_long(const std::string& name) { return name.starts_with("--"); }

// "-n, --iters N", "    --np N", "NCCL_TESTS_MIN_BW GB/s".
std::string names_of(const Flag& flag, std::string_view before_long) {
  std::string text;
  if (is_long(flag.names.front()))
    text = fmt::format("{}{}", before_long, flag.names.front());
  else
    text = fmt::format("{}", fmt::join(flag.names, ", "));
  return flag.has_value() ? text + ' ' + flag.value : text;
}

std::string default_of(const Flag& flag) {
  if (!flag.otherwise.empty()) return " [" + flag.otherwise + "]";
  if (!flag.has_value() || flag.is_variable()) return {};
  const SettingValue value = flag.show();
  const auto* const bytes = std::get_if<std::int64_t>(&value);
  const std::string text = bytes != nullptr && flag.value == "SIZE"
                               ? size_text(static_cast<std::size_t>(*bytes))
                               : text_of(value);
  return text.empty() ? text : " [" + text + "]";
}

// A flag's line, its text from `column` on.
std::string described(const std::string& names, const std::string& text, std::size_t column) {
  std::string line = "  " + names;
  line += line.size() < column ? std::string(column - line.size(), ' ')
                               : '\n' + std::string(column, ' ');
  return line + wrapped(text, column, column) + '\n';
}

bool is_shown(const Flag& flag) { return flag.missing.empty() && !flag.help.empty(); }

std::string title(const Collective& collective) {
  if (!collective.sweeps)
    return fmt::format("{}_perf - times how a job starts: launch, library, first operations\n",
                       collective.name);
  const std::string_view does = about(collective.name);
  return fmt::format("{0}_perf - tests and times {0}{1}{2}\n", collective.name,
                     does.empty() ? "" : ": ", does);
}

struct Example {
  std::string command, meaning;
};

std::vector<Example> examples(const Collective& c) {
  const std::string program = fmt::format("{}_perf", c.name);
  const Taken taken = taken_by(c);
  const bool sizes = taken.sizes.empty();
  const std::string sweep = program + (sizes ? " -b 8 -e 64M" : "");
  std::vector<Example> all = {
      {sweep, sizes ? "this machine, 8 B, 16 B, ... 64 MiB" : "this machine"},
      {sweep + " --np 4 -J run.jsonl", "4 local processes; also a file"},
      {fmt::format("mpirun -n 4 {} --backend mpi", sweep), "MPI starts ranks and moves data"}};
  if (!sizes) {
    if (c.sweeps) all.push_back({program + " -n 1000 -I 1", "with statistics of single calls"});
    return all;
  }
  if (c.domain.paired) {
    all.push_back({program + " --np 4 --pairs all --sizes 1M", "which pair is slow?"});
  } else if (c.domain.types.empty()) {
    const bool all_ops = c.domain.reduces && c.domain.ops.empty();
    all.push_back({fmt::format("{} -b 1M -e 1M -d all{}", program, all_ops ? " -o all" : ""),
                   all_ops ? "is every type and operation right?" : "is every type right?"});
  }
  all.push_back({program + " --sizes 64M --min-busbw 64M:1.0", "CI gate: exit 6 below 1.0 GB/s"});
  return all;
}

std::string example_lines(const Collective& collective) {
  const std::vector<Example> all = examples(collective);
  std::size_t width = 0;
  for (const Example& example : all) width = std::max(width, example.command.size());
  std::string text;
  for (const Example& example : all)
    text += fmt::format("  {:{}}  {}\n", example.command, width, example.meaning);
  return text;
}

// The names of the flags that the page does not describe, by group.
std::string more_line(const FlagSet& set) {
  std::string text;
  for (const GroupTitle& group : group_titles) {
    std::string names;
    for (const Flag& flag : set.all()) {
      if (flag.group == group.group && flag.page == Page::none && is_shown(flag) &&
          flag.names.front() != "--help-all")
        names += ' ' + flag.names.front();
    }
    if (names.empty() || group.brief.empty()) continue;
    text += fmt::format("{}{}{}", text.empty() ? "" : " | ", group.brief, names);
  }
  return text.empty() ? text : "More:  " + wrapped(text, 7, 2) + '\n';
}

}  // namespace

std::string help_page(const Collective& collective, const FlagSet& set) {
  constexpr std::size_t column = 27;
  std::string text = title(collective);
  text +=
      fmt::format("Usage: {}_perf [options]\n\n{}\n", collective.name, example_lines(collective));
  for (const PageTitle& page : page_titles) {
    std::string lines;
    for (const Flag& flag : set.all()) {
      if (flag.page != page.page || !is_shown(flag)) continue;
      const std::string& help = flag.brief.empty() ? flag.help : flag.brief;
      lines += described(names_of(flag, ""), help + default_of(flag), column);
    }
    if (!lines.empty()) text += fmt::format("{}\n{}", page.title, lines);
  }
  return text + '\n' + more_line(set) + std::string(exit_codes) +
         "Columns and method: docs/METHOD.md   Launchers: docs/LAUNCHING.md   "
         "Flags: docs/COMPATIBILITY.md\n";
}

std::string help_all(const Collective& collective, const FlagSet& set) {
  constexpr std::size_t column = 30;
  std::string text = title(collective);
  text += fmt::format("Usage: {}_perf [options]          (--help: one page, with examples)\n",
                      collective.name);
  for (const GroupTitle& group : group_titles) {
    std::string lines;
    for (const Flag& flag : set.all()) {
      if (flag.group != group.group || !is_shown(flag)) continue;
      lines += described(names_of(flag, "    "), flag.help + default_of(flag), column);
    }
    if (!lines.empty()) text += fmt::format("\n{}\n{}", group.title, lines);
  }
  return text + '\n' + std::string(exit_codes);
}

}  // namespace ccl_tests
