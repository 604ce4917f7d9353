#include "src/core/host.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace ccl_tests {

std::string this_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
  return name.data();
}

std::string host_identity() { return this_host() + ' ' + machine_id(); }

std::string machine_id(const std::string& root) {
  std::string id;
  std::ifstream(root + "/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

std::optional<std::uint64_t> free_shared_memory() {
  struct statvfs room {};
  if (::statvfs("/dev/shm", &room) != 0) return std::nullopt;
  return std::uint64_t{room.f_bavail} * room.f_frsize;
}

}  // namespace ccl_tests
