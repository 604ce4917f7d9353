// How the ranks of a job become a communicator of NCCL.
#pragma once

#include <memory>

#include "src/core/backend.hpp"

namespace ccl_tests::nccl_module {

// Of options.device, this rank's GPU, only the index is kept. Collective over channel's ranks.
// Throws Error, Unsupported.
std::unique_ptr<Communicator> connect(ControlChannel& channel, const BackendOptions& options);

}  // namespace ccl_tests::nccl_module
