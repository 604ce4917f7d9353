#include "src/devices/cuda/device.hpp"

#include <algorithm>
#include <array>

namespace ccl_tests::cuda_module {
namespace {

std::string dotted(int version) {  // CUDA's 1000 * major + 10 * minor
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string hex(const cudaUUID_t& uuid) {
  std::string text;
  for (const char byte : uuid.bytes)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

// nccl-tests' form of a PCI address: domain, bus, device.
std::string short_bus_id(int device) {
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), device),
        "a device's PCI address");
  const std::string full = text.data();  // 0000:0F:00.0
  std::string id;
  for (const char c : full.substr(0, full.find('.')))
    id += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  return id;
}

class CudaDevice : public Device {
 public:
  explicit CudaDevice(int index) : index_(index) {
    use();
    check(cudaGetDeviceProperties(&properties_, index), "a device's properties");
    // The copies' own stream: the default one would wait for all others of the device.
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
  }
  // A thread without a device, as the main one, would make a context on the first device.
  ~CudaDevice() override {
    cudaSetDevice(index_);
    cudaStreamDestroy(stream_);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  Memory memory() const override { return Memory::cuda; }
  DeviceInfo info() const override {
    return {index_,
            properties_.name,
            short_bus_id(index_),
            hex(properties_.uuid),
            versions(),
            static_cast<std::size_t>(std::max(0, properties_.l2CacheSize))};
  }

  std::size_t available() const override {
    std::size_t free = 0;
    std::size_t total = 0;
    use();
    check(cudaMemGetInfo(&free, &total), "the free memory");
    return free;
  }

  void use() const override { check(cudaSetDevice(index_), fmt::format("device {}", index_)); }

  Buffer allocate(std::size_t bytes) override {
    void* data = nullptr;
    use();
    check(cudaMalloc(&data, bytes == 0 ? 1 : bytes),
          fmt::format("memory of {} B on device {}", bytes, index_));
    return {static_cast<std::byte*>(data), bytes, [index = index_](std::byte* p) {
              cudaSetDevice(index);
              cudaFree(p);
            }};
  }

  void copy(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), "a copy");
    check(cudaStreamSynchronize(stream_), "a copy");
  }

 private:
  int index_;
  cudaDeviceProp properties_{};
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::unique_ptr<Device> open_device(int index) { return std::make_unique<CudaDevice>(index); }

std::string versions() {
  int runtime = 0;
  int driver = 0;
  check(cudaRuntimeGetVersion(&runtime), "the runtime's version");
  check(cudaDriverGetVersion(&driver), "the driver's version");
  return fmt::format("CUDA runtime {}, driver {}", dotted(runtime),
                     driver == 0 ? "none" : dotted(driver));
}

}  // namespace ccl_tests::cuda_module
