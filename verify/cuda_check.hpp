// Errors of the CUDA runtime, for the verifier.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "src/core/error.hpp"

namespace ccl_tests::verify {

// Throws Error, and forgets the error: the next call is not to blame.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Error(std::string(what) + ": " + cudaGetErrorString(status));
}

}  // namespace ccl_tests::verify
