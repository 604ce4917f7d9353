// --explain: how each column and line of the output comes about.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/collective.hpp"

namespace ccl_tests {

struct Explanation {
  enum class Kind { column, stats_column, flag, row_line, footer };
  Kind kind;
  std::string_view name;       // as the output has it
  std::string_view text;       // what it is, its unit, and where it comes from
  std::string_view word = {};  // of a flag: its name in files
};

// Returns all of them, in the order of the output.
std::span<const Explanation> explanations();
// Returns those of this program.
std::vector<Explanation> explanations(const Collective& collective);
// Returns the title over explanations of this kind.
std::string_view title(Explanation::Kind kind);

// Returns the text of --explain for the table of this program.
std::string explain(const Collective& collective);

}  // namespace ccl_tests
