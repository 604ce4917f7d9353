// One GPU as the harness sees it, and the check of every call of the CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "src/core/device.hpp"
#include "src/core/error.hpp"

namespace ccl_tests::cuda_module {

// Throws Error naming what failed and CUDA's own words.
inline void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // it would be reported again by the next call
  throw Error(
      fmt::format("CUDA: {}: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status)));
}

// Makes device `index` the calling thread's. Throws Error.
std::unique_ptr<Device> open_device(int index);

// Returns "CUDA runtime 13.0, driver 13.0".
std::string versions();

}  // namespace ccl_tests::cuda_module
