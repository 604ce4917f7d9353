// The names of types and operations in NCCL, and what this NCCL can do.
#pragma once

#include <nccl.h>

#include <optional>

#include "src/backends/nccl/communicator.hpp"
#include "src/core/capabilities.hpp"
#include "src/core/types.hpp"

namespace ccl_tests::nccl_module {

// The suite's types and operations as NCCL's.

ncclDataType_t nccl_type(DataType type);

// Empty: NCCL has no such operation, or (mulsum) it is one that a communicator must make.
std::optional<ncclRedOp_t> nccl_op(ReduceOp op);

// This rank's scalar of mulsum, as `type`, for ncclRedOpCreatePreMulSum.
std::uint64_t mulsum_bits(DataType type, int rank);

// After the library was opened, whose version counts.
Capabilities capabilities_of(const Setup& setup);

}  // namespace ccl_tests::nccl_module
