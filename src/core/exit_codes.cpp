#include "src/core/exit_codes.hpp"

#include <array>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

// The ends of a run that readers of exit codes tell apart: a column of the table below.
enum class Outcome { passed, slow, bad, undecided, missing };

Outcome outcome_of(int native) {
  switch (native) {
    case exit_code(Exit::passed): return Outcome::passed;
    case exit_code(Exit::too_slow): return Outcome::slow;
    case exit_code(Exit::wrong_data):
    case exit_code(Exit::failed):
    case exit_code(Exit::timed_out): return Outcome::bad;
    case exit_code(Exit::unsupported): return Outcome::missing;
    default: return Outcome::undecided;
  }
}

constexpr std::array<std::string_view, 4> code_names = {"native", "nagios", "npd", "aicr"};

// By [ExitCodes, without native][Outcome].
constexpr ExitStatus status_table[][5] = {
    {{0, "OK"}, {1, "WARNING"}, {2, "CRITICAL"}, {3, "UNKNOWN"}, {3, "UNKNOWN"}},
    {{0, "OK"}, {1, "NonOK"}, {1, "NonOK"}, {2, "Unknown"}, {2, "Unknown"}},
    {{0, "passed"}, {1, "failed"}, {1, "failed"}, {1, "failed"}, {2, "skipped"}},
};

}  // namespace

const std::vector<ExitCodes>& all_exit_codes() {
  static const std::vector<ExitCodes> all = {ExitCodes::native, ExitCodes::nagios, ExitCodes::npd,
                                             ExitCodes::aicr};
  return all;
}

std::string_view name(ExitCodes codes) { return code_names.at(static_cast<std::size_t>(codes)); }

ExitStatus exit_status(ExitCodes codes, int native) {
  const Outcome outcome = outcome_of(native);
  if (codes == ExitCodes::native) return {native, outcome == Outcome::passed ? "passed" : "failed"};
  return status_table[static_cast<int>(codes) - 1][static_cast<int>(outcome)];
}

}  // namespace ccl_tests
