// The command line of device_check.
#pragma once

#include <string>
#include <vector>

#include "src/core/device.hpp"
#include "src/options/flag.hpp"
#include "src/options/program_texts.hpp"
#include "tools/verifier_check.hpp"

namespace ccl_tests::tools {

struct CheckArguments {
  Memory memory = Memory::cuda;
  int device = 0;
  bool list = false;
  std::vector<DataType> types = {all_types().begin(), all_types().end()};
  CheckOptions check;
  std::string output_file;
  bool help = false;
};

// Declares the flags, which set `a`. `a` outlives the set.
void declare_flags(FlagSet& set, CheckArguments& a);
ProgramTexts check_texts();

// Throws UsageError. If help is asked for, the rest is not checked.
CheckArguments parse_check_arguments(const std::vector<std::string>& words);

}  // namespace ccl_tests::tools
