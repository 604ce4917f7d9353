// How the ranks of a job become a communicator of NCCL.
#pragma once

#include <memory>

#include "src/core/backend.hpp"

namespace ccl::nccl_module {

// Of options.device, this rank's GPU, only the index is kept. Collective over bootstrap's ranks.
// Throws Error, Unsupported.
std::unique_ptr<Communicator> connect(Bootstrap& bootstrap, const BackendOptions& options);

}  // namespace ccl::nccl_module
