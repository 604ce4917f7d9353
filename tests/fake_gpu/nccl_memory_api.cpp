#include "tests/fake_gpu/nccl_group.hpp"

namespace fake_gpu {
namespace {

struct Registration {
  std::shared_ptr<Communicator> communicator;
  bool window = false;
};

Handles<Registration>& registrations() {
  static auto* const all = new Handles<Registration>;
  return *all;
}

ncclResult_t add(ncclComm_t comm, const void* buffer, std::size_t bytes, bool window,
                 void** handle) {
  const auto communicator = communicators().find(comm);
  if (!communicator || buffer == nullptr || bytes == 0 || handle == nullptr) {
    return refuse(ncclInvalidArgument, "communicator, buffer or size of a registration");
  }
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, buffer) != cudaSuccess) return ncclUnhandledCudaError;
  if (attributes.type != cudaMemoryTypeDevice || attributes.device != communicator->device()) {
    return refuse(ncclInvalidArgument, "not memory of the communicator's device");
  }
  if (window && reinterpret_cast<std::uintptr_t>(buffer) % NCCL_WIN_REQUIRED_ALIGNMENT != 0) {
    return refuse(ncclInvalidArgument, "a window must begin at a multiple of 4096");
  }
  *handle = registrations().add(std::make_shared<Registration>(Registration{communicator, window}));
  return ncclSuccess;
}

ncclResult_t remove(ncclComm_t comm, const void* handle, bool window) {
  const auto communicator = communicators().find(comm);
  const auto found = registrations().find(handle);
  if (!communicator || !found || found->communicator != communicator || found->window != window) {
    return refuse(ncclInvalidArgument, "communicator or handle of a registration");
  }
  registrations().remove(handle);
  return ncclSuccess;
}

ncclResult_t result_of(cudaError_t error) {
  if (error == cudaSuccess) return ncclSuccess;
  return refuse(ncclUnhandledCudaError, cudaGetErrorString(error));
}

}  // namespace
}  // namespace fake_gpu

extern "C" {

ncclResult_t ncclMemAlloc(void** at, size_t bytes) {
  return fake_gpu::result_of(cudaMalloc(at, bytes));
}

ncclResult_t ncclMemFree(void* at) { return fake_gpu::result_of(cudaFree(at)); }

ncclResult_t ncclCommRegister(ncclComm_t comm, void* buffer, size_t bytes, void** handle) {
  return fake_gpu::add(comm, buffer, bytes, false, handle);
}

ncclResult_t ncclCommDeregister(ncclComm_t comm, void* handle) {
  return fake_gpu::remove(comm, handle, false);
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buffer, size_t bytes,
                                    ncclWindow_t* window, int /*flags*/) {
  if (window == nullptr) return fake_gpu::refuse(ncclInvalidArgument, "win is NULL");
  void* handle = nullptr;
  const auto result = fake_gpu::add(comm, buffer, bytes, true, &handle);
  *window = static_cast<ncclWindow_t>(handle);
  return result;
}

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window) {
  return fake_gpu::remove(comm, window, true);
}

}  // extern "C"
