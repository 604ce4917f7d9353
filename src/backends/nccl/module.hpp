// Makes a communicator of NCCL of the ranks of a job.
#pragma once

#include <memory>

#include "src/core/backend.hpp"

namespace ccl_tests::nccl_module {

// Keeps the index alone of options.device, this rank's GPU. Collective over channel's ranks.
// Throws Error, Unsupported.
std::unique_ptr<Communicator> connect(ControlChannel& channel, const BackendOptions& options);

}  // namespace ccl_tests::nccl_module
