// Faults on purpose (--inject): what they are called, and to which calls they are done.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/call.hpp"

namespace ccl_tests {

enum class FaultKind {
  flipped_bit,
  flipped_sign,
  swapped_blocks,
  shifted_block,
  stale_result,
  missing_contribution,
  doubled_contribution,
  wrong_op,
  wrong_root,
  truncated_tail,
  written_behind,
  written_before,
  changed_input,
  reduced_precision,
  zeroed_result,
};
std::span<const FaultKind> all_faults();
std::vector<std::string> fault_names();  // of all_faults()
std::string_view name(FaultKind kind);   // "flipped-bit"
std::string_view about(FaultKind kind);  // "one bit of one element of the result differs"

// The calls of a row that a fault is done to.
enum class CallPhase { any, untimed, timed };

struct Fault {
  FaultKind kind = FaultKind::flipped_bit;
  int rank = 0;  // of the job that it is done to; below 0, and is_collective(): to every rank
  std::optional<std::size_t> at_bytes;  // of the row, as asked for; nullopt: all rows
  std::size_t call = 0;   // of those that the rest names, the first is 1; 0: every one
  std::size_t every = 1;  // one in so many of them
  CallPhase phase = CallPhase::any;
};

// Reads KIND[:rank=R|all][:at=SIZE][:call=N][:every=N][:phase=untimed|timed]. Throws UsageError.
Fault parse_fault(std::string_view text);
// Returns what parse_fault() reads.
std::string text_of(const Fault& fault);

// Returns true if all ranks must do it, or none: their calls would not match.
bool is_collective(FaultKind kind);

// Returns why the fault leaves the results of such a call as they are or cannot be done to it; nullopt: it
// changes some rank's. op: of reductions.
std::optional<std::string> why_harmless(FaultKind kind, OperationId operation, DataType type,
                                        ReduceOp op, int ranks);

}  // namespace ccl_tests
