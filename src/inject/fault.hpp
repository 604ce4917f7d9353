// Faults on purpose (--inject): their names, the calls that they are done to, and what they do to
// bytes. Pure.
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
  // Faults of arithmetic.
  rounded_toward_zero,
  one_ulp,
  flushed_subnormals,
  saturated,
  double_rounded,
  integer_order,
  skipped_assignment,
  ignored_nan,
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

// Throws UsageError if no rank of the job has the fault's rank.
void require_rank(const Fault& fault, int ranks);

// The words for a run with a fault that found nothing wrong.
inline constexpr std::string_view nothing_spoiled =
    "--inject spoiled nothing that shows: this run does not show that faults are found";

// Returns true if all ranks must do it, or none: their calls would not match.
bool is_collective(FaultKind kind);

// Returns true of one element of a floating-point reduction that is computed wrongly.
bool is_of_arithmetic(FaultKind kind);

// Returns why the fault leaves the results of such a call as they are or cannot be done to it; nullopt: it
// changes some rank's. op: of reductions.
std::optional<std::string> why_harmless(FaultKind kind, OperationId operation, DataType type,
                                        ReduceOp op, int ranks);

// A result that is to be spoiled.
struct SpoiledResult {
  std::span<std::byte> bytes;  // whole elements of `type`
  DataType type = DataType::uint8;
  std::size_t bit = 0;                    // of the element that flipped_bit flips
  std::size_t element = 0;                // that a fault of one element is done to
  std::size_t block = 0;                  // bytes of one block
  std::span<const std::byte> before;      // what the buffer held before the call: as many bytes
  std::span<const std::byte> stale = {};  // the result of the call before; empty: there was none
};

// Does what `kind` says to a result: flipped_bit, flipped_sign, swapped_blocks, shifted_block, stale_result,
// truncated_tail, reduced_precision, zeroed_result. Returns whether a byte differs now.
bool spoil_result(FaultKind kind, const SpoiledResult& result);

// Writes to `input` what stands for a rank that did not take part: the neutral element of a reduction, or zeros
// (op: nullopt).
void write_nothing(std::span<std::byte> input, DataType type, std::optional<ReduceOp> op);

}  // namespace ccl_tests
