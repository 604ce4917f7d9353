// The suite's types and operations as NCCL's.
#pragma once

#include <nccl.h>

#include <optional>

#include "src/core/types.hpp"

namespace ccl_tests::nccl_module {

ncclDataType_t nccl_type(DataType type);

// Empty: NCCL has no such operation, or (mulsum) it is one that a communicator must make.
std::optional<ncclRedOp_t> nccl_op(ReduceOp op);

// This rank's scalar of mulsum, as `type`, for ncclRedOpCreatePreMulSum.
std::uint64_t mulsum_bits(DataType type, int rank);

}  // namespace ccl_tests::nccl_module
