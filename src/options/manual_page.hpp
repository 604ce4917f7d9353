// The manual page of a program, from the declarations of its flags.
#pragma once

#include <string>

#include "src/options/flag.hpp"
#include "src/options/program_texts.hpp"

namespace ccl_tests {

// Returns a page of section 1 in the man macros of roff. date: "2026-01-31".
std::string manual_page(const ProgramTexts& program, const FlagSet& set, const std::string& date);

}  // namespace ccl_tests
