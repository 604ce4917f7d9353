#include "src/options/program_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace ccl_tests {
namespace {

constexpr std::size_t page_width = 100;

struct PageTitle {
  Page page;
  std::string_view title;
};
constexpr PageTitle page_titles[] = {{Page::what, "What runs"},
                                     {Page::where, "Where it runs"},
                                     {Page::measured, "How it is measured and checked"},
                                     {Page::output, "What comes out"}};

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

std::string bracketed(const std::string& text) { return text.empty() ? text : " [" + text + "]"; }

// A flag's line, its text from `column` on.
std::string described(const std::string& names, const std::string& text, std::size_t column) {
  std::string line = "  " + names;
  line += line.size() < column ? std::string(column - line.size(), ' ')
                               : '\n' + std::string(column, ' ');
  return line + wrapped(text, column, column) + '\n';
}

std::string title(const ProgramTexts& program) {
  return fmt::format("{} - {}\n", program.name, program.about);
}

std::string example_lines(const std::vector<Example>& all) {
  std::size_t width = 0;
  for (const Example& example : all) width = std::max(width, example.command.size());
  std::string text;
  for (const Example& example : all)
    text += fmt::format("  {:{}}  {}\n", example.command, width, example.meaning);
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
  for (const GroupTitle& group : group_titles()) {
    std::string names;
    for (const Flag& flag : set.all()) {
      if (flag.group == group.group && flag.page == Page::none && flag.is_offered() &&
          flag.names.front() != "--help-all")
        names += ' ' + flag.names.front();
    }
    if (names.empty() || group.brief.empty()) continue;
    text += fmt::format("{}{}{}", text.empty() ? "" : " | ", group.brief, names);
  }
  return text.empty() ? text : "More:  " + wrapped(text, 7, 2) + '\n';
}

}  // namespace

std::string help_page(const ProgramTexts& program, const FlagSet& set) {
  constexpr std::size_t column = 27;
  std::string text = title(program);
  text += fmt::format("Usage: {} [options]\n\n{}\n", program.name, example_lines(program.examples));
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
  std::string text = title(program);
  text += fmt::format("Usage: {} [options]{}{}\n", program.name,
                      program.operands.empty() ? "" : " " + program.operands,
                      has_page ? "          (--help: one page, with examples)" : "");
  if (!has_page) text += '\n' + example_lines(program.examples);
  for (const GroupTitle& group : group_titles()) {
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
