// Compares two results files, or those that two shell commands write, and decides which runs may be compared.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "src/record/read.hpp"
#include "tools/compare/report.hpp"

namespace ccl_tests::compare {

struct NamedRun {
  std::string name;  // where the run comes from, in messages: a file or "base"
  RecordedRun run;
};

// Throws Error (wrong data) that says what found_wrong() says, if that is anything.
void check_right(const NamedRun& run);

// Throws UsageError if times of the two runs say nothing about each other: another program, mode,
// backend, number of ranks, clock, kind of time, data types or operations. The message names the
// field and both values. Throws as check_right() does.
void check_comparable(const NamedRun& base, const NamedRun& head, Routings routings);

// Throws UsageError if the suite's arithmetic reduced a row of one, and the library's the same row
// of the other.
void check_same_arithmetic(const NamedRun& base, const NamedRun& head);

// Throws UsageError if several runs of one are compared by another number (judged_by()) than those
// of the other.
void check_same_number(const NamedRun& base, const NamedRun& head);

// Returns a line for each thing that differs and may be what is compared: the versions of suite and
// library, CPUs or GPUs, hosts, launcher, placement of the ranks.
std::vector<std::string> differences(const NamedRun& base, const NamedRun& head);

// Each run in a file is one invocation; the first run of base is compared with the first one of
// head, and so on. One run a side gives hints only. Throws UsageError if a file cannot be read or
// its runs cannot be compared.
Report compare_files(const std::string& base, const std::string& head, const Plan& plan);

// Commands, which the tool runs itself (live.cpp).

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
