#include <cstring>
#include <string>

#include "tests/fake_gpu/cuda_state.hpp"

namespace fake_gpu {
namespace {

// A strided area of memory, and what it is part of.
struct Area {
  Area(const Runtime& runtime, const void* at, std::size_t pitch, std::size_t width,
       std::size_t height)
      : bytes(width == 0 || height == 0 ? 0 : pitch * (height - 1) + width),
        allocation(runtime.memory.find(at)),
        device(allocation && !allocation->host),
        inside(!allocation || allocation->holds(at, bytes)) {}

  std::size_t bytes;
  std::optional<Allocation> allocation;
  bool device, inside;
};

bool fits(cudaMemcpyKind kind, bool to_device, bool from_device) {
  switch (kind) {
    case cudaMemcpyHostToHost: return !to_device && !from_device;
    case cudaMemcpyHostToDevice: return to_device && !from_device;
    case cudaMemcpyDeviceToHost: return !to_device && from_device;
    case cudaMemcpyDeviceToDevice: return to_device && from_device;
    case cudaMemcpyDefault: return true;
  }
  return false;
}

void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
               std::size_t width, std::size_t height) {
  for (std::size_t row = 0; row < height; ++row) {
    std::memmove(static_cast<std::byte*>(to) + row * to_pitch,
                 static_cast<const std::byte*>(from) + row * from_pitch, width);
  }
}

struct Copy {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch, width, height;
  cudaMemcpyKind kind;
};

// Pageable host memory is read before the call returns, and written before it returns.
cudaError_t copy(Runtime& runtime, Copy what, cudaStream_t handle, bool synchronous) {
  const auto stream = runtime.stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (what.width > what.to_pitch || what.width > what.from_pitch) return cudaErrorInvalidPitchValue;
  const Area to(runtime, what.to, what.to_pitch, what.width, what.height);
  const Area from(runtime, what.from, what.from_pitch, what.width, what.height);
  if (!to.inside || !from.inside || !fits(what.kind, to.device, from.device)) {
    return cudaErrorInvalidValue;
  }
  if (to.bytes == 0) return cudaSuccess;
  if (what.to == nullptr || what.from == nullptr) return cudaErrorInvalidValue;
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(handle, &capturing);
  const bool now = capturing == cudaStreamCaptureStatusNone;
  std::shared_ptr<std::string> staged;
  if (now && !synchronous && !from.allocation) {
    staged = std::make_shared<std::string>(static_cast<const char*>(what.from), from.bytes);
    what.from = staged->data();
  }
  const auto error = runtime.issue_task(stream, [what, staged] {
    copy_rows(what.to, what.to_pitch, what.from, what.from_pitch, what.width, what.height);
  });
  if (error == cudaSuccess && now && (synchronous || !to.allocation)) {
    stream->wait(stream->submitted());
  }
  return error;
}

cudaError_t set(Runtime& runtime, void* at, int value, std::size_t bytes, cudaStream_t handle) {
  const auto stream = runtime.stream(handle);
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (bytes == 0) return cudaSuccess;
  const auto allocation = runtime.memory.find(at);
  if (!allocation || !allocation->holds(at, bytes)) return cudaErrorInvalidValue;
  return runtime.issue_task(stream, [=] { std::memset(at, value, bytes); });
}

cudaError_t allocate(Runtime& runtime, void** at, std::size_t bytes, bool host, bool waits = true) {
  if (at == nullptr) return cudaErrorInvalidValue;
  *at = nullptr;
  if (const auto error = runtime.refuse_in_capture(); error != cudaSuccess) return error;
  if (bytes == 0) return cudaSuccess;
  if (waits) runtime.wait_for_peers(current_device());
  *at = runtime.memory.allocate(current_device(), bytes, host);
  return *at == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

// Waits, as CUDA does, for whatever may still use the memory.
cudaError_t release(Runtime& runtime, void* at, bool host) {
  if (at == nullptr) return cudaSuccess;
  if (const auto error = runtime.refuse_in_capture(); error != cudaSuccess) return error;
  const auto allocation = runtime.memory.find(at);
  if (!allocation || allocation->base != at || allocation->host != host) {
    return cudaErrorInvalidValue;
  }
  runtime.wait_for_device(allocation->device);
  runtime.wait_for_peers(allocation->device);
  return runtime.memory.release(at, host) ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace
}  // namespace fake_gpu

using fake_gpu::call;
using fake_gpu::current_device;
using fake_gpu::Runtime;

extern "C" {

cudaError_t cudaMalloc(void** at, std::size_t bytes) {
  return call([&](Runtime& runtime) { return fake_gpu::allocate(runtime, at, bytes, false); });
}

// Of a pool, which waits for nothing. The memory can be used at once.
cudaError_t cudaMallocAsync(void** at, std::size_t bytes, cudaStream_t /*stream*/) {
  return call(
      [&](Runtime& runtime) { return fake_gpu::allocate(runtime, at, bytes, false, false); });
}

cudaError_t cudaMallocHost(void** at, std::size_t bytes) {
  return call([&](Runtime& runtime) { return fake_gpu::allocate(runtime, at, bytes, true); });
}

cudaError_t cudaHostAlloc(void** at, std::size_t bytes, unsigned int /*flags*/) {
  return cudaMallocHost(at, bytes);
}

cudaError_t cudaFree(void* at) {
  return call([&](Runtime& runtime) { return fake_gpu::release(runtime, at, false); });
}

cudaError_t cudaFreeHost(void* at) {
  return call([&](Runtime& runtime) { return fake_gpu::release(runtime, at, true); });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    if (const auto error = runtime.refuse_in_capture(); error != cudaSuccess) return error;
    return fake_gpu::copy(runtime, {to, bytes, from, bytes, bytes, 1, kind}, nullptr, true);
  });
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    return fake_gpu::copy(runtime, {to, bytes, from, bytes, bytes, 1, kind}, stream, false);
  });
}

cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    return fake_gpu::copy(runtime, {to, to_pitch, from, from_pitch, width, height, kind}, stream,
                          false);
  });
}

cudaError_t cudaMemset(void* at, int value, std::size_t bytes) {
  return call([&](Runtime& runtime) {
    if (const auto error = runtime.refuse_in_capture(); error != cudaSuccess) return error;
    return fake_gpu::set(runtime, at, value, bytes, nullptr);
  });
}

cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t stream) {
  return call([&](Runtime& runtime) { return fake_gpu::set(runtime, at, value, bytes, stream); });
}

cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  return call([&](Runtime& runtime) {
    if (available == nullptr || total == nullptr) return cudaErrorInvalidValue;
    *available = runtime.memory.available(current_device());
    *total = runtime.memory.total();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* at) {
  return call([&](Runtime& runtime) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    auto* const address = const_cast<void*>(at);
    const auto allocation = runtime.memory.find(at);
    attributes->type = !allocation        ? cudaMemoryTypeUnregistered
                       : allocation->host ? cudaMemoryTypeHost
                                          : cudaMemoryTypeDevice;
    attributes->device = allocation ? allocation->device : cudaInvalidDeviceId;
    attributes->devicePointer = allocation ? address : nullptr;
    attributes->hostPointer = !allocation || allocation->host ? address : nullptr;
    return cudaSuccess;
  });
}

}  // extern "C"
