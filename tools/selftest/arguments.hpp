// The command line of ccl_selftest.
#pragma once

#include <string>
#include <vector>

#include "src/core/collective.hpp"
#include "src/options/flag.hpp"
#include "src/options/options.hpp"
#include "src/options/program_texts.hpp"

namespace ccl_tests::selftest {

struct Arguments {
  Options options;                     // of the job and the library
  std::vector<std::string> programs;   // without _perf; empty: all
  std::vector<DataType> types;         // empty: all
  std::vector<FaultKind> faults;       // empty: all
  std::vector<std::size_t> sizes;      // of rows without a fault
  std::size_t fault_bytes = 64 << 10;  // of rows with one
  bool list = false, help = false;
};

// Returns the programs that are one operation of the library: what is spoiled there is what they
// verify. The others are made of these operations, and send lengths that a fault would make
// impossible.
std::vector<const Collective*> tested_programs();

void declare_flags(FlagSet& set, Arguments& arguments);
ProgramTexts texts();
// Throws UsageError.
Arguments parse(const std::vector<std::string>& words);

}  // namespace ccl_tests::selftest
