// Host memory: buffers, and how much of it this process's ranks may take.
#pragma once

#include <cstddef>
#include <string>

namespace ccl_tests {

// Page-aligned zeroed memory, given back on destruction. Pages cost nothing until they are touched.
// Throws Error.
class HostBuffer {
 public:
  HostBuffer() = default;
  explicit HostBuffer(std::size_t bytes);
  ~HostBuffer();
  HostBuffer(HostBuffer&& other) noexcept;
  HostBuffer& operator=(HostBuffer&& other) noexcept;
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

// Bytes that this host can still give to the job: the smaller of MemAvailable and what the cgroups
// above this process leave. `root`: where /proc and /sys are, for tests.
std::size_t available_memory(const std::string& root = "");

}  // namespace ccl_tests
