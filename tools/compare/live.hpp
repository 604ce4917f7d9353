// Compares two commands, which the tool runs itself.
#pragma once

#include <string>

#include "tools/compare/interleaved.hpp"
#include "tools/compare/report.hpp"

namespace ccl_tests::compare {

struct Commands {
  std::string base, head;
  bool aa = false;    // head is base
  bool probe = true;  // between cores, before and after each pair
};

// Throws Error if a command fails or writes no results, UsageError if the runs cannot be compared,
// Interrupted at a signal.
Report compare_commands(const Commands& commands, const Plan& plan);

}  // namespace ccl_tests::compare
