// A program's manual page, and the completion of shells.
#pragma once

#include <string>

#include "src/options/flag.hpp"
#include "src/options/program_texts.hpp"

namespace ccl_tests {

// Returns a page of section 1 in the man macros of roff. date: "2026-01-31".
std::string manual_page(const ProgramTexts& program, const FlagSet& set, const std::string& date);

// Completion of command lines in bash and zsh, from the declarations of the flags.

// Both return a whole file. Flags that --help-all alone has, since they ask for nothing, are not
// offered. Operands are files.
// bash: for share/bash-completion/completions/PROGRAM; needs nothing of bash-completion.
std::string bash_completion(const ProgramTexts& program, const FlagSet& set);
// zsh: for share/zsh/site-functions/_PROGRAM.
std::string zsh_completion(const ProgramTexts& program, const FlagSet& set);

}  // namespace ccl_tests
