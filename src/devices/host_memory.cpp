#include "src/devices/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <utility>

#include "src/core/error.hpp"
#include "src/devices/kernel_files.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : unlimited;  // "max" and absent files
}

std::size_t left_in(const Cgroup& group, const char* limit_file, const char* usage_file) {
  const std::size_t limit = number_in(group.folder + limit_file);
  const std::size_t usage = number_in(group.folder + usage_file);
  if (limit == unlimited || usage == unlimited) return unlimited;
  return limit - std::min(limit, usage);
}

std::size_t cgroup_memory(const std::string& root) {
  std::size_t left = unlimited;
  for (const Cgroup& group : cgroups(root, "memory")) {
    left = std::min(left, group.unified
                              ? left_in(group, "memory.max", "memory.current")
                              : left_in(group, "memory.limit_in_bytes", "memory.usage_in_bytes"));
  }
  return left;
}

// " (ulimit -v: 300000 KiB)"
std::string address_limit() {
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return fmt::format(" (ulimit -v: {} KiB)", limit.rlim_cur / 1024);
}

}  // namespace

HostBuffer::HostBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw Error(fmt::format("cannot allocate {} bytes: {}{}", bytes, std::strerror(errno),
                            address_limit()));
  data_ = static_cast<std::byte*>(p);
}

HostBuffer::~HostBuffer() {
  if (data_ != nullptr) munmap(data_, size_);
}

HostBuffer::HostBuffer(HostBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::size_t available_memory(const std::string& root) {
  std::size_t kib = 0;
  std::istringstream(value_of(root + "/proc/meminfo", "MemAvailable").value_or("0")) >> kib;
  return std::min(kib * 1024, cgroup_memory(root));
}

}  // namespace ccl_tests
