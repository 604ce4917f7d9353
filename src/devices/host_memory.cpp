#include "src/devices/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <utility>

#include "src/core/error.hpp"

namespace ccl {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

// The value behind "key:" or "key " in a file of such lines.
std::optional<std::string> value_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const std::size_t start = line.find_first_not_of(" \t:", key.size());
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return std::nullopt;
}

std::size_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : unlimited;  // "max" and absent files
}

// Limit minus usage of the cgroup at `folder` and of those above it. v2 and v1 differ in the files'
// names.
std::size_t cgroup_left(const std::string& top, std::string folder, const char* limit_file,
                        const char* usage_file) {
  std::size_t left = unlimited;
  while (true) {
    const std::string path = top + folder + "/";
    const std::size_t limit = number_in(path + limit_file);
    const std::size_t usage = number_in(path + usage_file);
    if (limit != unlimited && usage != unlimited)
      left = std::min(left, limit - std::min(limit, usage));
    if (folder.empty() || folder == "/") return left;
    folder.resize(folder.rfind('/'));
  }
}

std::size_t cgroup_memory(const std::string& root) {
  std::size_t left = unlimited;
  std::ifstream file(root + "/proc/self/cgroup");  // lines of number:controllers:path
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string folder = line.substr(second + 1);
    if (controllers.empty()) {
      left = std::min(left,
                      cgroup_left(root + "/sys/fs/cgroup", folder, "memory.max", "memory.current"));
    } else if (controllers == "memory") {
      left = std::min(left, cgroup_left(root + "/sys/fs/cgroup/memory", folder,
                                        "memory.limit_in_bytes", "memory.usage_in_bytes"));
    }
  }
  return left;
}

}  // namespace

HostBuffer::HostBuffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw Error(fmt::format("cannot allocate {} bytes: {}", bytes, std::strerror(errno)));
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

std::string cpu_model(const std::string& root) {
  return value_of(root + "/proc/cpuinfo", "model name").value_or("CPU");
}

std::string allowed_cpus(const std::string& root) {
  return value_of(root + "/proc/self/status", "Cpus_allowed_list").value_or("unknown");
}

}  // namespace ccl
