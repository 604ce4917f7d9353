// Help: the flags from their declarations, and all other texts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/collective.hpp"
#include "src/options/flag.hpp"

namespace ccl_tests {

struct Example {
  std::string command, meaning;
};

struct ExitText {
  std::string_view code, meaning;
};

struct ProgramTexts {
  std::string name;      // "all_reduce_perf"
  std::string about;     // one line without a full stop
  std::string operands;  // what may stand beside the flags
  std::vector<Example> examples;
  std::span<const ExitText> exits;
};
ProgramTexts texts_of(const Collective& collective);

struct GroupTitle {
  Group group;
  std::string_view title, brief;
};
// The groups of --help-all, in their order.
inline constexpr GroupTitle group_titles[] = {{Group::sizes, "Sizes", "sizes"},
                                              {Group::what, "What runs", "runs"},
                                              {Group::measuring, "Measuring", "time"},
                                              {Group::checking, "Checking", "check"},
                                              {Group::ranks, "Ranks and launching", "ranks"},
                                              {Group::library, "Library", "library"},
                                              {Group::output, "Output and limits", "output"},
                                              {Group::gpus, "GPUs", "GPU"},
                                              {Group::variables, "Environment variables", ""}};

// Returns `start` and the words of `text` on lines of at most 100 columns, each with its end. All lines but the first
// begin with `indent`. used: columns of the first line before the text.
std::string wrapped(std::string_view start, std::string_view text, std::size_t used,
                    std::string_view indent);

// Puts a backslash before each of these characters.
std::string escaped(std::string_view text, std::string_view characters);

// Returns one page: examples, the usual flags, and the names of the others.
std::string help_page(const ProgramTexts& program, const FlagSet& set);
// Returns every flag and variable that the program takes, in groups.
std::string help_all(const ProgramTexts& program, const FlagSet& set);
// Returns it for a tool whose flags `declare` declares. Defaults are those of new Arguments.
template <typename Arguments>
std::string help_of(const ProgramTexts& program, void (*declare)(FlagSet&, Arguments&)) {
  Arguments defaults;
  FlagSet set;
  declare(set, defaults);
  return help_all(program, set);
}

}  // namespace ccl_tests
