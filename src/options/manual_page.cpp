#include "src/options/manual_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "src/core/version.hpp"

namespace ccl_tests {
namespace {

// Text that roff prints as it is, within a line: a hyphen or quote without a backslash is printed
// as another character, which cannot be pasted into a shell.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\\': result += "\\e"; break;
      case '-': result += "\\-"; break;
      case '\'': result += "\\(aq"; break;
      case '`': result += "\\(ga"; break;
      case '^': result += "\\(ha"; break;
      case '~': result += "\\(ti"; break;
      default: result += c;
    }
  }
  return result;
}

// A line of text. One that begins with a dot would be a request.
std::string line(std::string_view text) {
  return fmt::format("{}{}\n", text.starts_with('.') ? "\\&" : "", plain(text));
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", plain(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", plain(text)); }

std::string defined(const std::string& term, std::string_view text) {
  return fmt::format(".TP\n{}\n{}", term, line(text));
}

std::string described(const Flag& flag) {
  std::vector<std::string> names;
  for (const std::string& name : flag.names) names.push_back(bold(name));
  std::string term = fmt::format("{}", fmt::join(names, ", "));
  if (flag.has_value()) term += (flag.is_variable() ? '=' : ' ') + italic(flag.value);
  const std::string usual = flag.default_text();
  return defined(term, usual.empty() ? flag.help : fmt::format("{} [{}]", flag.help, usual));
}

std::string flags_of(const FlagSet& set, Group group) {
  std::string text;
  for (const Flag& flag : set.all())
    if (flag.group == group && flag.is_offered()) text += described(flag);
  return text;
}

std::string options(const FlagSet& set) {
  std::string text =
      ".SH OPTIONS\n"
      "Defaults are in brackets.\n"
      "The value of a long option may also follow an equals sign,\n"
      "and its name may be shortened as long as no other begins alike.\n";
  for (const GroupTitle& group : group_titles()) {
    const std::string flags = flags_of(set, group.group);
    if (group.group != Group::variables && !flags.empty())
      text += fmt::format(".SS {}\n{}", group.title, flags);
  }
  return text;
}

std::string section(std::string_view title, const std::string& text) {
  return text.empty() ? text : fmt::format(".SH {}\n{}", title, text);
}

std::string output(const ProgramTexts& program) {
  std::string text;
  for (const Definitions& part : program.output) {
    text += fmt::format(".SS {}\n", part.title);
    for (const auto& [term, meaning] : part.lines) text += defined(bold(term), meaning);
  }
  return text;
}

std::string examples(const ProgramTexts& program) {
  std::string text;
  for (const Example& example : program.examples)
    text += defined(bold(example.command), example.meaning);
  return text;
}

std::string related(const ProgramTexts& program) {
  std::vector<std::string> pages;
  for (const std::string& name : program.related) pages.push_back(bold(name) + "(1)");
  return pages.empty() ? std::string() : fmt::format("{}\n", fmt::join(pages, ",\n"));
}

std::string exit_status(const ProgramTexts& program) {
  std::string text;
  for (const ExitText& exit : program.exits) text += defined(bold(exit.code), exit.meaning);
  return text;
}

}  // namespace

std::string manual_page(const ProgramTexts& program, const FlagSet& set, const std::string& date) {
  std::string title = program.name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = fmt::format(
      ".\\\" Generated from the program's own list of flags.\n"
      ".TH {} 1 \"{}\" \"ccl-tests {}\" \"User Commands\"\n",
      title, date, version());
  text += section("NAME", fmt::format("{} \\- {}\n", program.name, plain(program.about)));
  std::string synopsis = fmt::format("{} [{} ...]", bold(program.name), italic("option"));
  if (!program.operands.empty()) synopsis += ' ' + italic(program.operands);
  text += section("SYNOPSIS", synopsis + '\n');
  std::string description;
  for (const std::string& paragraph : program.description)
    description += (description.empty() ? "" : ".PP\n") + line(paragraph);
  text += section("DESCRIPTION", description);
  text += options(set);
  text += section("ENVIRONMENT", flags_of(set, Group::variables));
  text += section("OUTPUT", output(program));
  text += section("EXIT STATUS", exit_status(program));
  text += section("EXAMPLES", examples(program));
  text += section("SEE ALSO", related(program));
  return text;
}

}  // namespace ccl_tests
