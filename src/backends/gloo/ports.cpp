#include "src/backends/gloo/ports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "src/core/error.hpp"
#include "src/core/host.hpp"

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

}  // namespace ccl_tests::gloo_module
