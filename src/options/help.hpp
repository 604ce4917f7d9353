// --help and --help-all, from the declarations of the flags.
#pragma once

#include <string>

#include "src/options/flag.hpp"
#include "src/options/program_texts.hpp"

namespace ccl_tests {

// Returns one page: examples, the usual flags, and the names of the others.
std::string help_page(const ProgramTexts& program, const FlagSet& set);
// Returns every flag and variable that the program takes, in groups.
std::string help_all(const ProgramTexts& program, const FlagSet& set);

}  // namespace ccl_tests
