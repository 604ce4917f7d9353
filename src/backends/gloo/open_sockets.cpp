#include "src/backends/gloo/open_sockets.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace ccl_tests::gloo_module {
namespace {

// 0: no socket. By the name that the kernel gives it: another thread may close the descriptor meanwhile.
ino_t socket_inode(int descriptor) {
  std::array<char, 32> path{};
  std::array<char, 64> name{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", descriptor);
  unsigned long inode = 0;
  const bool is_socket = readlink(path.data(), name.data(), name.size() - 1) > 0 &&
                         std::sscanf(name.data(), "socket:[%lu]", &inode) == 1;
  return is_socket ? inode : 0;
}

}  // namespace

OpenSockets OpenSockets::now() {
  OpenSockets result;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    if (const ino_t inode = socket_inode(descriptor)) result.inodes_[descriptor] = inode;
  }
  return result;
}

OpenSockets OpenSockets::since(const OpenSockets& earlier) const {
  OpenSockets result;
  for (const auto& [descriptor, inode] : inodes_) {
    const auto before = earlier.inodes_.find(descriptor);
    if (before == earlier.inodes_.end() || before->second != inode)
      result.inodes_[descriptor] = inode;
  }
  return result;
}

void OpenSockets::shut_down() const noexcept {
  for (const auto& [descriptor, inode] : inodes_) {
    if (socket_inode(descriptor) == inode) shutdown(descriptor, SHUT_RDWR);
  }
}

}  // namespace ccl_tests::gloo_module
