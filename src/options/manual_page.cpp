#include "src/options/program_texts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "src/core/quote.hpp"
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
  for (const GroupTitle& group : group_titles) {
    const std::string flags = flags_of(set, group.group);
    if (group.group != Group::variables && !flags.empty())
      text += fmt::format(".SS {}\n{}", group.title, flags);
  }
  return text;
}

std::string section(std::string_view title, const std::string& text) {
  return text.empty() ? text : fmt::format(".SH {}\n{}", title, text);
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
  std::string description, output, exits, examples, related;
  for (const std::string& paragraph : program.description)
    description += (description.empty() ? "" : ".PP\n") + line(paragraph);
  for (const Definitions& part : program.output) {
    output += fmt::format(".SS {}\n", part.title);
    for (const auto& [term, meaning] : part.lines) output += defined(bold(term), meaning);
  }
  for (const ExitText& exit : program.exits) exits += defined(bold(exit.code), exit.meaning);
  for (const Example& example : program.examples)
    examples += defined(bold(example.command), example.meaning);
  for (const std::string& name : program.related)
    related += (related.empty() ? "" : ",\n") + bold(name) + "(1)";
  text += section("DESCRIPTION", description);
  text += options(set);
  text += section("ENVIRONMENT", flags_of(set, Group::variables));
  text += section("OUTPUT", output);
  text += section("EXIT STATUS", exits);
  text += section("EXAMPLES", examples);
  text += section("SEE ALSO", related.empty() ? "" : related + '\n');
  return text;
}

namespace {

std::vector<const Flag*> offered(const FlagSet& set) {
  std::vector<const Flag*> flags;
  for (const Flag& flag : set.all())
    if (flag.is_offered() && !flag.is_variable() && flag.page != Page::unlisted)
      flags.push_back(&flag);
  return flags;
}

// A branch of bash's `case`: what may follow the flag.
std::string bash_branch(const Flag& flag) {
  std::string does;
  if (!flag.values.empty())
    does = fmt::format(" values={}", shell_quoted(fmt::format("{}", fmt::join(flag.values, " "))));
  if (flag.comma_list) does += " list=1";
  if (flag.file_use != FileUse::none) does += flag.value == "FOLDER" ? " paths=-d" : " paths=-f";
  return fmt::format("    {}){} ;;\n", fmt::join(flag.names, " | "), does.empty() ? " :" : does);
}

// Escapes a part of a specification of _arguments, which a colon ends.
std::string zsh_part(const std::string& text) { return escaped(text, "\\:"); }

std::string zsh_action(const Flag& flag) {
  const std::string values = fmt::format("{}", fmt::join(flag.values, " "));
  if (flag.comma_list) return fmt::format("_sequence compadd - {}", values);
  if (flag.value == "FOLDER") return "_files -/";
  if (flag.file_use == FileUse::none)
    return values.empty() ? " " : fmt::format("({})", zsh_part(values));
  return values.empty() ? "_files" : zsh_part(fmt::format("{{ compadd - {} || _files }}", values));
}

// One line for each name of a flag.
std::string zsh_lines(const Flag& flag) {
  const std::string others =
      flag.repeatable ? "*" : fmt::format("({})", fmt::join(flag.names, " "));
  const std::string text = escaped(flag.help, "\\[]");
  std::string lines;
  for (const std::string& name : flag.names) {
    std::string line = others + name;
    if (flag.has_value() && name.starts_with("--")) line += '=';
    line += '[' + text + ']';
    if (flag.has_value()) line += fmt::format(":{}:{}", zsh_part(flag.value), zsh_action(flag));
    lines += fmt::format("  {} \\\n", shell_quoted(line));
  }
  return lines;
}

// Arguments: program, names of the flags, branches. Files are offered if no name begins with the word. Bash splits words at '=', so that the flag of
// --cache=warm is two words before.
constexpr std::string_view bash_file =
    R"(# Completion of {0}'s command line in bash. Generated from the program's own list of flags.
_ccl_tests_{0}() {{
  local flags='{1}'
  local word=${{COMP_WORDS[COMP_CWORD]}} flag=${{COMP_WORDS[COMP_CWORD - 1]}} values= paths= list= before=
  if [[ $word == = ]]; then
    word=
  elif [[ $flag == = ]] && ((COMP_CWORD > 1)); then
    flag=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  COMPREPLY=()
  case $flag in
{2}  esac
  if [[ $list && $word == *,* ]]; then
    before=${{word%,*}},
    word=${{word##*,}}
  fi
  [[ -z $values ]] || mapfile -t COMPREPLY < <(compgen -P "$before" -W "$values" -- "$word")
  if [[ $paths ]] && ((${{#COMPREPLY[@]}} == 0)); then
    local names
    mapfile -t names < <(compgen "$paths" -- "$word")
    COMPREPLY=("${{names[@]}}")
    compopt -o filenames 2>/dev/null
  elif [[ ${{COMPREPLY[0]:-}} == *: ]]; then
    compopt -o nospace 2>/dev/null
  fi
}}
complete -F _ccl_tests_{0} {0}
)";

}  // namespace

std::string bash_completion(const ProgramTexts& program, const FlagSet& set) {
  std::vector<std::string> names;
  std::string branches;
  for (const Flag* flag : offered(set)) {
    names.insert(names.end(), flag->names.begin(), flag->names.end());
    if (flag->has_value()) branches += bash_branch(*flag);
  }
  branches += program.operands.empty()
                  ? "    *) values=$flags ;;\n"
                  : "    *) [[ $word == -* ]] && values=$flags || paths=-f ;;\n";
  return fmt::format(bash_file, program.name, fmt::join(names, " "), branches);
}

std::string zsh_completion(const ProgramTexts& program, const FlagSet& set) {
  std::string lines;
  for (const Flag* flag : offered(set)) lines += zsh_lines(*flag);
  if (!program.operands.empty()) lines += "  '*:FILE:_files' \\\n";
  return fmt::format(
      "#compdef {0}\n"
      "# Completion of {0}'s command line in zsh. Generated from the program's own list of flags.\n"
      "_arguments \\\n{1}  && return 0\n",
      program.name, lines);
}

}  // namespace ccl_tests
