// What MPI does of the suite's operations, and how.
#pragma once

#include <cstddef>

#include "src/core/capabilities.hpp"
#include "src/core/device.hpp"

namespace ccl_tests::mpi_module {

// Operations that MPI lacks: made of MPI's by the communicator.
inline bool is_composed(ReduceOp op) { return op == ReduceOp::avg || op == ReduceOp::mulsum; }

// device: whose memory the buffers lie in; null: the host's. most: largest count that is handed to MPI.
// After MPI was initialised, since the thread level is told.
Capabilities capabilities_on(const Device* device, std::size_t most);

}  // namespace ccl_tests::mpi_module
