// ccl-cuda.so: what the registry opens.
#include "src/core/backend.hpp"
#include "src/devices/cuda/device.hpp"
#include "src/devices/devices.hpp"
#include "verify/loops.hpp"

namespace ccl_tests::cuda_module {
namespace {

class CudaDevices : public Devices {
 public:
  int count() const override {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status == cudaSuccess && devices > 0) return devices;
    cudaGetLastError();
    if (status == cudaErrorInsufficientDriver)
      throw Error(
          fmt::format("no GPU can be used: the driver is missing or too old for the CUDA "
                      "runtime of this build ({})",
                      versions()));
    if (status == cudaSuccess || status == cudaErrorNoDevice)
      throw Error(fmt::format(
          "no GPU can be used: CUDA sees no device (nvidia-smi -L shows those of the machine, "
          "CUDA_VISIBLE_DEVICES may hide them; {})",
          versions()));
    throw Error(fmt::format("no GPU can be used: {} ({}; {})", cudaGetErrorString(status),
                            cudaGetErrorName(status), versions()));
  }

  std::unique_ptr<Device> open(int index) const override { return open_device(index); }

  std::unique_ptr<verify::Loops> loops(Device& device) const override {
    device.use();
    return verify::make_cuda_loops();
  }
};

}  // namespace
}  // namespace ccl_tests::cuda_module

extern "C" {
__attribute__((visibility("default"))) int ccl_module_abi() { return ccl_tests::module_abi; }
__attribute__((visibility("default"))) const ccl_tests::Devices* ccl_module_devices() {
  static const ccl_tests::cuda_module::CudaDevices devices;
  return &devices;
}
}
