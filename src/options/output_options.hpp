// Where results go beside standard output.
#pragma once

#include <string>
#include <vector>

#include "src/core/exit_codes.hpp"

namespace ccl_tests {

// The file of the verdict that a process with --exit-codes reads of the run that it starts. It is no flag: ranks whose user has not given
// --verdict must not be taken to have one.
inline constexpr const char* monitor_verdict_variable = "CCL_MONITOR_VERDICT";

struct OutputOptions {
  std::vector<std::string> files;
  std::string verdict;          // file of the run's verdict; empty: none
  std::string monitor_verdict;  // the same, for the process that started this one
  ExitCodes exit_codes = ExitCodes::native;
  std::string heartbeat_file;  // empty: stderr
  bool timestamps = false;
  bool stats = false;    // columns about the certainty of times
  bool raw = false;      // every stamp in files
  bool explain = false;  // print what the table means, instead of a run
  bool verbose = false;  // the whole header
  std::string label;     // kept with the results
};

}  // namespace ccl_tests
