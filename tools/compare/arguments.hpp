// The command line of ccl_compare.
#pragma once

#include <string>
#include <vector>

#include "tools/compare/interleaved.hpp"
#include "tools/compare/live.hpp"

namespace ccl_tests::compare {

struct Arguments {
  std::vector<std::string> files;  // two, or none
  Commands commands;
  Plan plan;
  std::string json, markdown, junit;  // files to write; empty: none
  bool help = false;                  // --help was printed
};

// Throws UsageError.
Arguments parse(int argc, char** argv);

}  // namespace ccl_tests::compare
