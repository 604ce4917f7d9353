// One rank of an NCCL communicator.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <memory>
#include <optional>
#include <string>

#include "src/core/backend.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests::nccl_module {

// The options of a communicator and of those that are split from it.
struct Setup {
  BackendOptions options;  // without the device
  int device = 0;
  int capability = 0;  // 10 * major + minor
  int rank = 0, ranks = 1;
  std::string sharing = {};  // what the header says of ranks that share a GPU; empty: nothing
};

ncclDataType_t nccl_type(DataType type);

// Empty: NCCL has no such operation, or (mulsum) it is one that a communicator must make.
std::optional<ncclRedOp_t> nccl_op(ReduceOp op);

// After the library was opened, whose version counts.
Capabilities capabilities_of(const Setup& setup);

ncclConfig_t config_of(const Setup& setup);

// An int of the GPU's memory that barriers sum.
using Token = std::unique_ptr<int, decltype(&cudaFree)>;

// Makes a token on the calling thread's device, before its communicator: taking memory waits for
// peers, and these for this rank once they have begun an operation. Throws Error.
Token make_token();

// Takes over `comm`, of the calling thread's device. Collective over its ranks. Throws Error.
std::unique_ptr<Communicator> make_communicator(ncclComm_t comm, const Setup& setup, Token token);

// Makes a communicator of the ranks of a job. Keeps the index alone of options.device, this rank's
// GPU. Collective over channel's ranks. Throws Error, Unsupported.
std::unique_ptr<Communicator> connect(ControlChannel& channel, const BackendOptions& options);

}  // namespace ccl_tests::nccl_module
