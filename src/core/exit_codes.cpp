#include "src/core/exit_codes.hpp"

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

// The ends of a run that readers of exit codes tell apart.
enum class Outcome { passed, slow, bad, unknown, missing };

Outcome outcome_of(int native) {
  switch (native) {
    case exit_code(Exit::passed): return Outcome::passed;
    case exit_code(Exit::too_slow): return Outcome::slow;
    case exit_code(Exit::wrong_data):
    case exit_code(Exit::failed):
    case exit_code(Exit::timed_out): return Outcome::bad;
    case exit_code(Exit::unsupported): return Outcome::missing;
    default: return Outcome::unknown;
  }
}

ExitStatus nagios(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed: return {0, "OK"};
    case Outcome::slow: return {1, "WARNING"};
    case Outcome::bad: return {2, "CRITICAL"};
    default: return {3, "UNKNOWN"};
  }
}

ExitStatus npd(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed: return {0, "OK"};
    case Outcome::slow:
    case Outcome::bad: return {1, "NonOK"};
    default: return {2, "Unknown"};
  }
}

ExitStatus aicr(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed: return {0, "passed"};
    case Outcome::missing: return {2, "skipped"};
    default: return {1, "failed"};
  }
}

}  // namespace

const std::vector<ExitCodes>& all_exit_codes() {
  static const std::vector<ExitCodes> all = {ExitCodes::native, ExitCodes::nagios, ExitCodes::npd,
                                             ExitCodes::aicr};
  return all;
}

std::string_view name(ExitCodes codes) {
  switch (codes) {
    case ExitCodes::nagios: return "nagios";
    case ExitCodes::npd: return "npd";
    case ExitCodes::aicr: return "aicr";
    case ExitCodes::native: break;
  }
  return "native";
}

ExitStatus exit_status(ExitCodes codes, int native) {
  const Outcome outcome = outcome_of(native);
  switch (codes) {
    case ExitCodes::nagios: return nagios(outcome);
    case ExitCodes::npd: return npd(outcome);
    case ExitCodes::aicr: return aicr(outcome);
    case ExitCodes::native: break;
  }
  return {native, outcome == Outcome::passed ? "passed" : "failed"};
}

}  // namespace ccl_tests
