// --exit-codes: a program as monitors run it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/core/exit_codes.hpp"

namespace ccl_tests {

// Returns what the command line asks for by --exit-codes, before anything else in it is understood:
// what is wrong there must not end in a code that a monitor takes for another one. nullopt:
// nothing, or native. Throws UsageError if the name is not known.
std::optional<ExitCodes> asked_exit_codes(const std::vector<std::string>& arguments);

// Returns prints(): whether a command line prints something and runs nothing; false if it throws.
bool asks_for_text(const std::function<bool()>& prints);

// The source of the first line: a verdict file (--verdict), nothing but the exit code,
// or a headline of its own on stdout.
enum class FirstLine { verdict, none, headline };

// Runs this executable with `arguments`, but without --exit-codes, as a child, and returns its exit
// code as `codes` have it (exit_status). Then prints its stdout, after a headline of at most 80
// bytes if it has none of its own: the status, and what the program leaves for it. Passes signals
// on. Only the first process of a launcher's job prints the headline.
int run_monitored(const std::string& program, const std::vector<std::string>& arguments,
                  ExitCodes codes, FirstLine first);

}  // namespace ccl_tests
