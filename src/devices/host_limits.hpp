// The CPUs and the memory that the host and its control groups leave to this process.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests {

// The value behind "key:" or "key " in a file of such lines.
std::optional<std::string> value_of(const std::string& path, const std::string& key);

struct Cgroup {
  std::string folder;  // with '/' at its end
  bool unified;        // version 2; version 1 has other files
};
// The cgroup of this process that limits what `controller` ("memory", "cpu") does, and those above
// it.
std::vector<Cgroup> cgroups(const std::string& root, std::string_view controller);

// The CPUs that this process may use. `root`: where /proc and /sys are, for tests.

std::string cpu_model(const std::string& root = "");

// Those that it may run on, as the kernel lists them: "0-3,8"; "unknown".
std::string allowed_cpus(const std::string& root = "");
// The numbers in such a list; none when it is not one.
std::set<int> cpus_in(const std::string& list);

// Returns how many CPUs' time its cgroups give it; 0: no limit.
double cpu_quota(const std::string& root = "");

// Returns the bytes of the last cache that a core has for itself (L2); 1 MiB if the system does not
// say.
std::size_t core_cache_bytes();

// Returns the bytes of the largest cache of the first CPU that this process may use; 0 if the system
// does not say.
std::size_t last_cache_bytes(const std::string& root = "");

// Host memory: buffers, and how much of it this process's ranks may take.

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
