#include <cstring>

#include "src/core/host.hpp"
#include "src/devices/devices.hpp"
#include "src/devices/host_limits.hpp"

namespace ccl_tests {
namespace {

class HostDevice : public Device {
 public:
  Memory memory() const override { return Memory::host; }
  DeviceInfo info() const override { return {.name = cpu_model(), .unique_id = machine_id()}; }
  std::size_t available() const override { return available_memory(); }
  void use() const override {}
  Buffer allocate(std::size_t bytes) override { return host_buffer(bytes); }
  void copy(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
};

class HostDevices : public Devices {
 public:
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
