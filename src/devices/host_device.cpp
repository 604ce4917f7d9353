#include <cstring>

#include "src/core/host.hpp"
#include "src/devices/devices.hpp"
#include "src/devices/host_limits.hpp"

namespace ccl_tests {
namespace {

class HostDevice : public Device {
 public:
  Memory memory() const override { return Memory::host; }
  int index() const override { return -1; }
  std::string name() const override { return cpu_model(); }
  std::string bus_id() const override { return {}; }
  std::string unique_id() const override { return machine_id(); }
  std::string description() const override { return {}; }
  std::size_t available() const override { return available_memory(); }
  void use() const override {}
  Buffer allocate(std::size_t bytes) override {
    auto memory = std::make_shared<HostBuffer>(bytes);
    std::byte* const data = memory->data();
    return {data, bytes, [memory](std::byte*) mutable { memory.reset(); }};
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
};

class HostDevices : public Devices {
 public:
  Memory memory() const override { return Memory::host; }
  int count() const override { return 1; }
  std::unique_ptr<Device> open(int /*index*/) const override {
    return std::make_unique<HostDevice>();
  }
  std::unique_ptr<verify::Loops> loops(Device& /*device*/) const override {
    return verify::make_host_loops();
  }
};

}  // namespace

const Devices& host_devices() {
  static const HostDevices devices;
  return devices;
}

}  // namespace ccl_tests
