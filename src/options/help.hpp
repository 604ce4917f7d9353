// --help and --help-all, from the declarations of the flags.
#pragma once

#include <string>

#include "src/core/collective.hpp"
#include "src/options/flag.hpp"

namespace ccl_tests {

// Returns one page: examples, the usual flags, and the names of the others.
std::string help_page(const Collective& collective, const FlagSet& set);
// Returns every flag and variable that the program takes, in groups.
std::string help_all(const Collective& collective, const FlagSet& set);

}  // namespace ccl_tests
