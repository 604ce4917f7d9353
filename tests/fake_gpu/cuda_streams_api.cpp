#include <chrono>

#include "tests/fake_gpu/cuda_state.hpp"

using fake_gpu::call;
using fake_gpu::current_device;
using fake_gpu::Runtime;
using fake_gpu::Stream;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return call([&](Runtime& runtime) {
    if (stream == nullptr || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking)) {
      return cudaErrorInvalidValue;
    }
    *stream = static_cast<cudaStream_t>(runtime.streams.add(std::make_shared<Stream>(
        runtime.memory, current_device(), flags != cudaStreamNonBlocking)));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags,
                                         int /*priority*/) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    const auto gone = runtime.streams.remove(stream);
    if (!gone) return cudaErrorInvalidResourceHandle;
    const std::lock_guard lock(runtime.mutex);
    if (gone->capture) gone->capture->invalid = true;
    if (gone->capture && gone->capture->origin == gone.get()) {
      gone->capture->ended = true;
      std::erase(runtime.captures, gone->capture);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    const auto found = runtime.stream(stream);
    if (!found) return cudaErrorInvalidResourceHandle;
    {
      const std::lock_guard lock(runtime.mutex);
      if (found->capture) {
        found->capture->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
      }
    }
    // On the NULL stream: wait for the streams that it is ordered with.
    if (stream == nullptr) {
      const auto error = runtime.issue_task(found, [] {});
      if (error != cudaSuccess) return error;
    }
    found->wait(found->submitted());
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    const auto found = runtime.stream(stream);
    if (!found) return cudaErrorInvalidResourceHandle;
    {
      const std::lock_guard lock(runtime.mutex);
      if (found->capture) {
        found->capture->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
      }
    }
    // Who asks will ask again at once, on a core that the work itself needs here.
    constexpr std::chrono::microseconds patience{200};
    return found->wait_for(found->submitted(), patience) ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* user_data) {
  return call([&](Runtime& runtime) {
    const auto found = runtime.stream(stream);
    if (!found) return cudaErrorInvalidResourceHandle;
    if (fn == nullptr) return cudaErrorInvalidValue;
    return runtime.issue_task(found, [fn, user_data] { fn(user_data); });
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([](Runtime& runtime) {
    const auto error = runtime.refuse_in_capture();
    if (error == cudaSuccess) runtime.wait_for_device(current_device());
    return error;
  });
}

}  // extern "C"
