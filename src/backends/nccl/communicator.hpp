// One rank of an NCCL communicator.
#pragma once

#include <nccl.h>

#include <memory>
#include <optional>
#include <string>

#include "src/core/communicator.hpp"

namespace ccl_tests::nccl_module {

// The options that a communicator was made with, and that those that are split from it are made with.
struct Setup {
  int device = 0;
  int capability = 0;  // 10 * major + minor
  int rank = 0, ranks = 1;
  int local_register = 0;
  int cta_policy = -1;
  bool null_stream = false;
  std::string sharing = {};  // what the header says of ranks that share a GPU; empty: nothing
  bool show_algorithm = false;
  int peers = 0;  // Domain::peers
};

ncclDataType_t nccl_type(DataType type);

// Empty: NCCL has no such operation, or (mulsum) it is one that a communicator must make.
std::optional<ncclRedOp_t> nccl_op(ReduceOp op);

// This rank's scalar of mulsum, as `type`, for ncclRedOpCreatePreMulSum.
std::uint64_t mulsum_bits(DataType type, int rank);

// After the library was opened, whose version counts.
Capabilities capabilities_of(const Setup& setup);

ncclConfig_t config_of(const Setup& setup);

struct FreeOnGpu {
  void operator()(int* data) const;
};
// An int of the GPU's memory that barriers sum.
using Token = std::unique_ptr<int, FreeOnGpu>;

// On the calling thread's device, before its communicator is made: taking memory waits for peers, and
// these for this rank once they have begun an operation. Throws Error.
Token make_token();

// Takes over `comm`, of the calling thread's device. Collective over its ranks. Throws Error.
std::unique_ptr<Communicator> make_communicator(ncclComm_t comm, const Setup& setup, Token token);

}  // namespace ccl_tests::nccl_module
