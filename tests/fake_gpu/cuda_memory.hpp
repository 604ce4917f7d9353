// Memory of the fake devices, and pinned host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace fake_gpu {

struct Allocation {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  std::size_t mapped = 0;
  int device = 0;  // host memory: the device that was current
  bool host = false;

  bool holds(const void* at, std::size_t count) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(at) - base);
    return offset <= bytes && count <= bytes - offset;
  }
};

// Device memory can be touched between begin_use and end_use, of whichever thread, and until
// somebody has seen that the work is done: then its pages are PROT_NONE. New memory holds 0xcd.
class Memory {
 public:
  Memory(int devices, std::size_t bytes_each);

  // Null where the device has not so much left.
  std::byte* allocate(int device, std::size_t bytes, bool host);
  // False where `base` is not the start of such memory.
  bool release(const void* base, bool host);
  void release_device(int device);
  // The allocation that `at` points into.
  std::optional<Allocation> find(const void* at) const;
  std::size_t total() const { return bytes_each_; }
  std::size_t available(int device) const;

  void begin_use();
  void end_use();
  void close_unused();  // to be called where work was waited for

 private:
  std::byte* map_device(std::size_t bytes);
  void unmap_device(const Allocation& gone);
  void protect(int protection) const;

  const std::size_t bytes_each_;
  mutable std::mutex mutex_;
  std::vector<std::size_t> used_;
  std::map<std::uintptr_t, Allocation> allocations_;
  std::map<std::uintptr_t, std::uintptr_t> extents_;  // begin, end: what device memory takes
  std::uintptr_t next_ = 0, reserved_ = 0;            // addresses that it may take
  int users_ = 0;
  bool open_ = false;
};

}  // namespace fake_gpu
