// Translates exit codes for those who start programs: --exit-codes.
#pragma once

#include <string_view>
#include <vector>

namespace ccl_tests {

// native: the suite's own (core/error.hpp). nagios: Nagios and what takes its plugins. npd: plugins
// of Kubernetes' Node Problem Detector. aicr: validation containers of NVIDIA's AICR.
enum class ExitCodes { native, nagios, npd, aicr };
const std::vector<ExitCodes>& all_exit_codes();
std::string_view name(ExitCodes codes);

struct ExitStatus {
  int code = 0;
  std::string_view word;  // "CRITICAL"
};

// Returns what a run that ended with the suite's exit code `native` is there (docs/CI.md has the
// table). 128 + N: a signal. What is not known to have passed never passes.
ExitStatus exit_status(ExitCodes codes, int native);

}  // namespace ccl_tests
