// The words of a command line, sorted by flags.
#pragma once

#include <string>
#include <vector>

#include "src/options/flag.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {

struct GivenFlag {
  const Flag* flag;
  std::vector<std::string> texts;  // one for each time; "1" if no value can follow the flag
};

struct CommandLine {
  std::vector<GivenFlag> given;      // in the order of their first use
  std::vector<std::string> unknown;  // words that belong to no flag
};

// Long flags may be shortened as getopt_long allows. If several begin alike, the one that has a
// short name too is meant: those are nccl-tests'. Throws UsageError for ambiguous ones and for a
// missing value.
CommandLine read_command_line(const FlagSet& set, const std::vector<std::string>& arguments);

// Reads the variables of the set. Returns the names of those that are set. Throws UsageError if a
// value is not accepted.
std::vector<std::string> read_variables(const FlagSet& set, const GetVariable& environment);

// Reads all flags. Returns false if one is a tool's -h: then nothing was read. Throws UsageError if `program` does not
// take a flag, if a text is not accepted, and for unknown words.
bool read_flags(const FlagSet& set, const CommandLine& line, const std::string& program);

}  // namespace ccl_tests
