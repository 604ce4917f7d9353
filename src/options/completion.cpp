#include "src/options/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

std::vector<const Flag*> offered(const FlagSet& set) {
  std::vector<const Flag*> flags;
  for (const Flag& flag : set.all())
    if (flag.is_offered() && !flag.is_variable() && flag.page != Page::unlisted)
      flags.push_back(&flag);
  return flags;
}

std::string with(std::string text, char what, std::string_view instead) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + instead.size()))
    text.replace(at, 1, instead);
  return text;
}

// A branch of bash's `case`: what may follow the flag.
std::string bash_branch(const Flag& flag) {
  std::string does;
  if (!flag.values.empty())
    does = fmt::format(" values={}", shell_quoted(fmt::format("{}", fmt::join(flag.values, " "))));
  if (flag.comma_list) does += " list=1";
  if (flag.paths() != Paths::none)
    does += flag.paths() == Paths::folders ? " paths=-d" : " paths=-f";
  return fmt::format("    {}){} ;;\n", fmt::join(flag.names, " | "), does.empty() ? " :" : does);
}

// In a specification of _arguments a colon ends a part.
std::string zsh_part(const std::string& text) { return with(with(text, '\\', "\\\\"), ':', "\\:"); }

std::string zsh_action(const Flag& flag) {
  const std::string values = fmt::format("{}", fmt::join(flag.values, " "));
  if (flag.comma_list) return fmt::format("_sequence compadd - {}", values);
  if (flag.paths() == Paths::folders) return "_files -/";
  if (flag.paths() == Paths::files && values.empty()) return "_files";
  if (flag.paths() == Paths::files)
    return zsh_part(fmt::format("{{ compadd - {} || _files }}", values));
  return values.empty() ? " " : fmt::format("({})", zsh_part(values));
}

// One line for each name of a flag.
std::string zsh_lines(const Flag& flag) {
  const std::string others =
      flag.repeatable ? "*" : fmt::format("({})", fmt::join(flag.names, " "));
  const std::string text = with(with(with(flag.help, '\\', "\\\\"), '[', "\\["), ']', "\\]");
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
