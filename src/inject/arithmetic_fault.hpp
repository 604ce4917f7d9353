// Faults of arithmetic (--inject): elements that a library gives which rounds, compares or assigns
// wrongly.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "src/core/call.hpp"
#include "src/core/communicator.hpp"
#include "src/core/device.hpp"
#include "src/inject/fault.hpp"

namespace ccl_tests {

// Some elements of a result on one rank, and what all ranks put into them.
struct Operands {
  std::size_t first = 0, count = 0;  // elements of the result
  std::vector<std::byte> inputs;     // `count` elements of each rank, rank after rank
};

// Memory that inputs are gathered in.
inline constexpr std::size_t operand_bytes = std::size_t{1} << 20;

// Gathers the inputs of a part of this rank's result, before the operation. Collective over the
// call's ranks. room: operand_bytes in the memory of the call's buffers.
Operands gather_operands(Communicator& library, Device& device, OperationId operation,
                         const Call& call, std::byte* room);

// Makes one of the elements in `result` what `kind` says: the first one that is wrong then, in
// whatever order the ranks are reduced; of more ranks than verify::RightResults tries orders of, that
// is another value then. Returns false if there is none.
bool spoil_arithmetic(FaultKind kind, const Call& call, const Operands& operands,
                      std::span<std::byte> result);

}  // namespace ccl_tests
