// The command line of ccl_compare.
#pragma once

#include <string>
#include <vector>

#include "src/options/flag.hpp"
#include "src/options/program_texts.hpp"
#include "tools/compare/files.hpp"

namespace ccl_tests::compare {

struct Arguments {
  std::vector<std::string> files;  // two, or none
  Commands commands;
  Plan plan;
  std::string json, markdown, junit;  // files to write; empty: none
  bool help = false;
};

// Declares the flags, which set `a`. `a` outlives the set.
void declare_flags(FlagSet& set, Arguments& a);
ProgramTexts texts();

// Throws UsageError. If help is asked for, the rest is not checked.
Arguments parse(const std::vector<std::string>& words);

}  // namespace ccl_tests::compare
