// Runs a functor on threads of a GPU; where this is compiled for the host (tests), in the order of
// a stream.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#ifdef __CUDACC__
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system_error.h>
#endif

namespace ccl_tests::verify::cuda {

// each(k) for k < threads, in no order, behind what is on the stream. Returns before it is done.
template <class F>
cudaError_t for_each_thread(std::uint64_t threads, const F& each, cudaStream_t stream) {
#ifdef __CUDACC__
  try {
    thrust::for_each_n(thrust::cuda::par_nosync.on(stream),
                       thrust::counting_iterator<std::uint64_t>(0), threads, each);
  } catch (const thrust::system_error& e) {
    return static_cast<cudaError_t>(e.code().value());
  }
  return cudaSuccess;
#else
  struct Work {
    std::uint64_t threads;
    F each;
  };
  const auto run = [](void* data) {
    auto* const work = static_cast<Work*>(data);
    for (std::uint64_t k = 0; k < work->threads; ++k) work->each(k);
    delete work;
  };
  return cudaLaunchHostFunc(stream, run, new Work{threads, each});
#endif
}

}  // namespace ccl_tests::verify::cuda
