// Where the buffers of an operation lie: the host's memory or a GPU's.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ccl_tests {

enum class Memory { host, cuda };
constexpr std::string_view name(Memory memory) { return memory == Memory::host ? "host" : "cuda"; }

// Memory that is given back on destruction.
class Buffer {
 public:
  using GiveBack = std::function<void(std::byte*)>;

  Buffer() = default;
  Buffer(std::byte* data, std::size_t size, GiveBack give_back)
      : data_(data, std::move(give_back)), size_(size) {}
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  std::unique_ptr<std::byte, GiveBack> data_{nullptr, [](std::byte*) {}};
  std::size_t size_ = 0;
};

// The facts about a device.
struct DeviceInfo {
  int index = -1;                // among those that the process sees; the host: -1
  std::string name;              // "NVIDIA H200", a CPU's model
  std::string bus_id = {};       // PCI address, "0000:0f:00"; the host: empty
  std::string unique_id;         // the same for all that share its memory on a machine
  std::string description = {};  // what runs it: "CUDA runtime 13.0, driver 13.0"; the host: empty
  std::size_t cache_bytes = 0;   // of the last cache before its memory; 0: not known
};

// One rank's device. Used by that rank's thread. All functions throw Error where the device fails.
class Device {
 public:
  virtual ~Device() = default;
  virtual Memory memory() const = 0;
  virtual DeviceInfo info() const = 0;
  virtual std::size_t available() const = 0;  // bytes that can still be allocated

  // Makes it the calling thread's device. Also for a thread that is not the rank's.
  virtual void use() const = 0;
  // Aligned to 256 bytes at least. What is in it is unspecified.
  virtual Buffer allocate(std::size_t bytes) = 0;
  // Between its memory and the host's or its own. The data have arrived when it returns.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
};

}  // namespace ccl_tests
