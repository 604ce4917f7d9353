// The command line, as data: a struct for each consumer.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/backend.hpp"
#include "src/core/collective.hpp"
#include "src/options/check_options.hpp"
#include "src/options/gpu_options.hpp"
#include "src/options/job_options.hpp"
#include "src/options/limits.hpp"
#include "src/options/measure_options.hpp"
#include "src/options/output_options.hpp"
#include "src/options/sweep_options.hpp"

namespace ccl_tests {

struct Options {
  JobOptions job;
  SweepOptions sweep;
  MeasureOptions measure;
  CheckOptions check;
  OutputOptions output;
  Limits limits;
  CollectiveOptions spec;
  GpuOptions gpu;
  BackendOptions backend;          // what the library under test is told
  std::vector<std::string> given;  // flags and variables that were set, by their first names
};

// What the command line asks for: to run, or to print a text and stop.
struct Parsed {
  Options options;
  std::optional<std::string> print;  // --help, --help-all, --version
};

using GetVariable = std::function<std::optional<std::string>(const char*)>;

// Reads `arguments` (without argv[0]) and the environment. Throws UsageError with one line: the
// flag, what was given, and what is accepted. Throws Unsupported for operations that are not
// defined on the types.
Parsed parse_options(const Collective& collective, const std::vector<std::string>& arguments,
                     const GetVariable& environment);

// Returns the flags that ask for something that only a library on GPUs has.
std::vector<std::string> gpu_flags(const Options& options);

// The form of the program that `mode` names; empty: the collective itself.
const Collective& in_mode(const Collective& collective, std::string_view mode);

// The groups of a job whose hosts are not known yet: all ranks are taken to be on one.
RankGroups unplaced_groups(const Options& options, int ranks);

// Checks roots, matrices, pairs and the collective itself against the number of ranks of each
// group. Throws UsageError, Unsupported.
void check_groups(const Collective& collective, const Options& options, const RankGroups& groups);

}  // namespace ccl_tests
