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

// Throws UsageError that names the first unknown word.
void refuse_unknown(const FlagSet& set, const CommandLine& line);

// Reads one flag's texts. Throws UsageError if `program` does not take the flag, or if a text is not
// accepted.
void read_flag(const GivenFlag& given, const std::string& program);

// Reads the variables of the set. Returns the names of those that are set. Throws UsageError if a
// value is not accepted.
std::vector<std::string> read_variables(const FlagSet& set, const GetVariable& environment);

// Reads all flags of a tool, whose help is -h. Returns false if that is given: then nothing was read.
// Throws UsageError as read_flag() and refuse_unknown() do.
bool read_flags(const FlagSet& set, const CommandLine& line, const std::string& program);

}  // namespace ccl_tests
