// One GPU as the harness sees it.
#pragma once

#include <memory>

#include "src/core/device.hpp"

namespace ccl_tests::cuda_module {

// Makes device `index` the calling thread's. Throws Error.
std::unique_ptr<Device> open_device(int index);

// "CUDA runtime 13.0, driver 13.0".
std::string versions();

}  // namespace ccl_tests::cuda_module
