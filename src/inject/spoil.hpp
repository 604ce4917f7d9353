// Spoils bytes as a fault does. Pure.
#pragma once

#include <cstddef>
#include <span>

#include "src/core/types.hpp"
#include "src/inject/fault.hpp"

namespace ccl_tests {

// A result that is to be spoiled.
struct SpoiledResult {
  std::span<std::byte> bytes;  // whole elements of `type`
  DataType type = DataType::uint8;
  std::size_t bit = 0;                // of the element that flipped_bit flips
  std::size_t element = 0;            // that a fault of one element is done to
  std::size_t block = 0;              // bytes of one block
  std::span<const std::byte> before;  // what the buffer held before the call: as many bytes
  std::span<const std::byte> stale;   // the result of the call before; empty: there was none
};

// Does what `kind` says to a result: flipped_bit, flipped_sign, swapped_blocks, shifted_block, stale_result,
// truncated_tail, reduced_precision, zeroed_result. Returns whether a byte differs now.
bool spoil_result(FaultKind kind, const SpoiledResult& result);

// Writes to `input` what stands for a rank that did not take part: the neutral element of a reduction, or zeros
// (op: nullopt).
void write_nothing(std::span<std::byte> input, DataType type, std::optional<ReduceOp> op);

}  // namespace ccl_tests
