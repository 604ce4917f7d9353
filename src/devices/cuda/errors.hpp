// Every call of the CUDA runtime goes through this.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string_view>

#include "src/core/error.hpp"

namespace ccl_tests::cuda_module {

// Throws Error naming what failed and CUDA's own words.
inline void check(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // it would be reported again by the next call
  throw Error(
      fmt::format("CUDA: {}: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status)));
}

}  // namespace ccl_tests::cuda_module
