// One rank of an NCCL communicator.
#pragma once

#include <memory>

#include "src/core/backend.hpp"

namespace ccl::nccl_module {

// options.device is this rank's GPU and outlives nothing: only its index is kept. Collective over
// bootstrap's ranks. Throws Error, Unsupported.
std::unique_ptr<Communicator> connect(Bootstrap& bootstrap, const BackendOptions& options);

}  // namespace ccl::nccl_module
