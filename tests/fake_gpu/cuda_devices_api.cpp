#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/fake_gpu/cuda_state.hpp"

namespace fake_gpu {
namespace {

bool has(const Runtime& runtime, int device) { return device >= 0 && device < runtime.devices(); }

// The first device of the machine lies on bus 0x0a.
int bus(const Runtime& runtime, int device) {
  return 0x0a + runtime.config.devices.at(static_cast<std::size_t>(device));
}

cudaError_t attribute(const Runtime& runtime, int* value, cudaDeviceAttr which, int device) {
  switch (which) {
    case cudaDevAttrComputeCapabilityMajor: *value = runtime.config.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = runtime.config.minor; break;
    case cudaDevAttrPciBusId: *value = bus(runtime, device); break;
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX: *value = 1024; break;
    case cudaDevAttrMaxGridDimX: *value = 0x7fffffff; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMultiProcessorCount: *value = 4; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrAsyncEngineCount: *value = 2; break;
    case cudaDevAttrL2CacheSize: *value = 1 << 20; break;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrUnifiedAddressing: *value = 1; break;
    default:
      if (which <= 0 || which >= cudaDevAttrMax) return cudaErrorInvalidValue;
      *value = 0;
  }
  return cudaSuccess;
}

void describe(const Runtime& runtime, cudaDeviceProp* prop, int device) {
  *prop = {};
  std::strcpy(prop->name, "Fake GPU");
  std::memcpy(prop->uuid.bytes, "fake gpu of test", sizeof prop->uuid.bytes);
  prop->uuid.bytes[15] = static_cast<char>(bus(runtime, device));
  prop->totalGlobalMem = runtime.memory.total();
  prop->warpSize = 32;
  prop->maxThreadsPerBlock = 1024;
  prop->maxThreadsDim[0] = prop->maxThreadsDim[1] = 1024;
  prop->maxThreadsDim[2] = 64;
  prop->maxGridSize[0] = 0x7fffffff;
  prop->maxGridSize[1] = prop->maxGridSize[2] = 0xffff;
  prop->major = runtime.config.major;
  prop->minor = runtime.config.minor;
  prop->multiProcessorCount = 4;
  prop->maxThreadsPerMultiProcessor = 2048;
  prop->l2CacheSize = 1 << 20;
  prop->asyncEngineCount = 2;
  prop->pciBusID = bus(runtime, device);
  prop->concurrentKernels = prop->canMapHostMemory = prop->unifiedAddressing = 1;
  prop->streamPrioritiesSupported = 1;
}

}  // namespace
}  // namespace fake_gpu

using fake_gpu::ask;
using fake_gpu::call;
using fake_gpu::current_device;
using fake_gpu::Runtime;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count != nullptr) *count = 0;
  return ask([&](Runtime& runtime) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = runtime.devices();
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return ask([&](Runtime& runtime) {
    if (!fake_gpu::has(runtime, device)) return cudaErrorInvalidDevice;
    current_device() = device;
    runtime.use_context(device);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return ask([&](Runtime& /*runtime*/) {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = current_device();
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* prop, int device) {
  return ask([&](Runtime& runtime) {
    if (prop == nullptr) return cudaErrorInvalidValue;
    if (!fake_gpu::has(runtime, device)) return cudaErrorInvalidDevice;
    fake_gpu::describe(runtime, prop, device);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attr, int device) {
  return ask([&](Runtime& runtime) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!fake_gpu::has(runtime, device)) return cudaErrorInvalidDevice;
    return fake_gpu::attribute(runtime, value, attr, device);
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  return ask([&](Runtime& runtime) {
    if (!fake_gpu::has(runtime, device)) return cudaErrorInvalidDevice;
    if (id == nullptr || length < 13) return cudaErrorInvalidValue;
    std::snprintf(id, static_cast<std::size_t>(length), "0000:%02x:00.0",
                  static_cast<unsigned>(fake_gpu::bus(runtime, device)) & 0xffU);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return ask([&](Runtime& runtime) {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (!fake_gpu::has(runtime, device) || !fake_gpu::has(runtime, peer)) {
      return cudaErrorInvalidDevice;
    }
    *can = device != peer ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return call([&](Runtime& runtime) {
    if (flags != 0) return cudaErrorInvalidValue;
    if (!fake_gpu::has(runtime, peer) || peer == current_device()) return cudaErrorInvalidDevice;
    const std::lock_guard lock(runtime.peers_mutex);
    const bool added = runtime.peers.emplace(current_device(), peer).second;
    return added ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&](Runtime& runtime) {
    if (!fake_gpu::has(runtime, peer)) return cudaErrorInvalidDevice;
    const std::lock_guard lock(runtime.peers_mutex);
    const bool removed = runtime.peers.erase({current_device(), peer}) > 0;
    return removed ? cudaSuccess : cudaErrorPeerAccessNotEnabled;
  });
}

cudaError_t cudaDeviceReset() {
  return call([](Runtime& runtime) {
    if (const auto error = runtime.refuse_in_capture(); error != cudaSuccess) return error;
    const int device = current_device();
    runtime.wait_for_device(device);
    runtime.streams.remove_if([&](const auto& stream) { return stream.device() == device; });
    runtime.events.remove_if([&](const auto& event) { return event.device == device; });
    runtime.memory.release_device(device);
    return cudaSuccess;
  });
}

// Of an installation whose driver is too old, or that has no device, these still answer.
cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return fake_gpu::last_error() = cudaErrorInvalidValue;
  const char* const error = std::getenv("FAKE_GPU_ERROR");
  const bool old = error != nullptr && std::atoi(error) == cudaErrorInsufficientDriver;
  *version = old ? CUDART_VERSION - 1000 : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return fake_gpu::last_error() = cudaErrorInvalidValue;
  *version = CUDART_VERSION;
  return cudaSuccess;
}

}  // extern "C"
