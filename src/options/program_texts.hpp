// The texts of help, manual page and completion besides the flags.
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

// Names and what they mean, under a title.
struct Definitions {
  std::string title;
  std::vector<std::pair<std::string, std::string>> lines;
};

struct ProgramTexts {
  std::string name;      // "all_reduce_perf"
  std::string about;     // one line without a full stop
  std::string operands;  // what may stand beside the flags
  std::vector<Example> examples;
  std::span<const ExitText> exits;
  std::vector<std::string> description;  // of the manual page: paragraphs
  std::vector<Definitions> output;       // of the manual page
  std::vector<std::string> related;      // other programs
};
// Returns them without `output`, which src/report/explanations.hpp has.
ProgramTexts texts_of(const Collective& collective);

struct GroupTitle {
  Group group;
  std::string_view title, brief;
};
// Returns the groups of --help-all, in their order.
std::span<const GroupTitle> group_titles();

}  // namespace ccl_tests
