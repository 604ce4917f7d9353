// What NCCL does of the suite's operations, and how.
#pragma once

#include "src/backends/nccl/communicator.hpp"
#include "src/core/capabilities.hpp"

namespace ccl_tests::nccl_module {

// After the library was opened, whose version counts.
Capabilities capabilities_of(const Setup& setup);

}  // namespace ccl_tests::nccl_module
