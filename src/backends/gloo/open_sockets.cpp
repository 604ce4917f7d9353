#include "src/backends/gloo/open_sockets.hpp"

#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "src/core/error.hpp"
#include "src/core/host.hpp"
#include "src/core/interfaces.hpp"

namespace ccl_tests::gloo_module {

void require_ports(ControlChannel& channel, double limit_s) {
  constexpr long few_everywhere = 8000;  // any host has more, and all ranks decide alike
  const long peers = channel.ranks() - 1;
  if (channel.ranks() * peers < few_everywhere) return;
  const std::string host = host_identity();
  const auto hosts = channel.all_gather(host, limit_s);
  const long here = std::count(hosts.begin(), hosts.end(), host);
  constexpr const char* setting = "/proc/sys/net/ipv4/ip_local_port_range";
  long first = 0, last = 0;
  if (!(std::ifstream(setting) >> first >> last)) return;
  const long ports = last - first + 1;
  if (here * peers <= ports) return;
  throw Unsupported(
      fmt::format("gloo: {} ranks on {} with {} peers each need {} TCP ports, it has {} "
                  "(net.ipv4.ip_local_port_range); use fewer ranks on a host",
                  here, this_host(), peers, here * peers, ports));
}

namespace {

// Returns 0 if it is not a socket. Reads its name alone: another thread may close it meanwhile.
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

std::uint64_t OpenSockets::sent_to_other_hosts() const {
  std::set<std::string> here;
  for (const InterfaceAddress& one : interface_addresses()) here.insert(one.address);
  std::uint64_t sent = 0;
  for (const auto& [descriptor, inode] : inodes_) {
    sockaddr_storage peer{};
    socklen_t length = sizeof(peer);
    tcp_info info{};
    socklen_t known = sizeof(info);
    if (socket_inode(descriptor) == inode &&
        getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0 &&
        !here.contains(numeric_address(reinterpret_cast<sockaddr*>(&peer))) &&
        getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &known) == 0)
      sent += info.tcpi_bytes_acked;  // 0 before Linux 4.1
  }
  return sent;
}

void OpenSockets::shut_down() const noexcept {
  for (const auto& [descriptor, inode] : inodes_)
    if (socket_inode(descriptor) == inode) shutdown(descriptor, SHUT_RDWR);
}

}  // namespace ccl_tests::gloo_module
