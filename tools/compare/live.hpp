// Compares two shell commands that write results files, which the tool runs itself.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "tools/compare/interleaved.hpp"
#include "tools/compare/report.hpp"

namespace ccl_tests::compare {

struct Commands {
  std::string base, head;
  bool aa = false;  // head is base
};

// Returns whether the command says which sizes it measures: -b, -e, -f, -i, --sizes and their long
// names, or --tensors.
bool chooses_sizes(const std::string& command);

// Returns the command with " -J 'file'", and with " --sizes LIST" if `sizes` is not empty.
std::string with_flags(const std::string& command, const std::string& file,
                       const std::set<std::size_t>& sizes);

// One of ending_signals() came. Not an std::exception: nothing but main() handles it.
struct Interrupted {
  int signal = 0;
};

// Runs the commands in turns. Throws Error if one fails or writes no results, UsageError if the
// runs cannot be compared, Interrupted at a signal, when no process of a command's group is left.
Report compare_commands(const Commands& commands, const Plan& plan);

}  // namespace ccl_tests::compare
