#include "src/backends/gloo/device.hpp"
#include "src/core/error.hpp"
#include "src/core/host.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gloo/common/error.h>
#include <gloo/config.h>
#include <gloo/transport/tcp/device.h>
#if GLOO_HAVE_TRANSPORT_IBVERBS && __has_include(<infiniband/verbs.h>)
#include <gloo/transport/ibverbs/device.h>
#endif
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

namespace ccl_tests::gloo_module {
namespace {

using DevicePtr = std::shared_ptr<gloo::transport::Device>;

// Ranks with the same one reach each other over loopback: same kernel and network namespace.
std::string network_identity() {
  std::error_code ignored;
  const auto network = std::filesystem::read_symlink("/proc/self/ns/net", ignored);
  return fmt::format("{} {}", host_identity(), network.string());
}

bool on_one_host(ControlChannel& channel, double limit_s) {
  const auto identities = channel.all_gather(network_identity(), limit_s);
  return std::all_of(identities.begin(), identities.end(),
                     [&](const std::string& other) { return other == identities.front(); });
}

struct Interface {
  std::string name;
  bool usable;  // up, not loopback, IPv4: what another host can reach
};

// Those with an IP address.
std::vector<Interface> interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) throw Error("getifaddrs failed: cannot list network interfaces");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  std::vector<Interface> result;
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr) continue;
    const int family = i->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const bool up = (i->ifa_flags & IFF_UP) != 0 && (i->ifa_flags & IFF_LOOPBACK) == 0;
    result.push_back({i->ifa_name, up && family == AF_INET});
  }
  return result;
}

bool is_loopback(const addrinfo& address) {
  if (address.ai_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(address.ai_addr);
    return (ntohl(in->sin_addr.s_addr) >> 24U) == 127;
  }
  if (address.ai_family != AF_INET6) return true;
  const auto* in6 = reinterpret_cast<const sockaddr_in6*>(address.ai_addr);
  return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) != 0;
}

// Whether Gloo's default, the address of this host's name, can be reached from other hosts.
bool host_name_is_reachable() {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  if (getaddrinfo(this_host().c_str(), nullptr, &hints, &list) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  return list != nullptr && !is_loopback(*list);
}

void require_interface(const std::string& name) {
  std::set<std::string> names;
  for (const Interface& interface : interfaces()) names.insert(interface.name);
  if (names.contains(name)) return;
  throw UsageError(
      fmt::format("--interface: there is no interface '{}' with an IP address; accepted: {}", name,
                  fmt::join(names, ", ")));
}

DevicePtr make_tcp(ControlChannel& channel, const BackendOptions& options) {
  gloo::transport::tcp::attr attributes;
  // Exchanged in any case: ranks that differ in their options must not differ in their exchanges.
  const bool one_host = on_one_host(channel, options.init_timeout_s);
  if (!options.interface.empty()) {
    require_interface(options.interface);
    attributes.iface = options.interface;
  } else if (one_host) {
    attributes.hostname = "127.0.0.1";
  } else if (!host_name_is_reachable()) {
    const auto all = interfaces();
    const auto usable = std::find_if(all.begin(), all.end(), [](auto& i) { return i.usable; });
    if (usable == all.end())
      throw Error("no network interface is up that other hosts could reach; see --interface");
    attributes.iface = usable->name;
  }
  return gloo::transport::tcp::CreateDevice(attributes);
}

DevicePtr make_ibverbs() {
#if GLOO_HAVE_TRANSPORT_IBVERBS && __has_include(<infiniband/verbs.h>)
  try {
    const auto names = gloo::transport::ibverbs::getDeviceNames();
    if (names.empty())
      throw Unsupported("--transport ibverbs: this machine has no InfiniBand or RoCE device");
    return gloo::transport::ibverbs::CreateDevice({.name = names.front(), .port = 1, .index = 0});
  } catch (const gloo::Exception& e) {
    throw Unsupported(fmt::format("--transport ibverbs: {}", e.what()));
  }
#else
  throw Unsupported(
      "--transport ibverbs: the Gloo module was built without it (package libibverbs-dev)");
#endif
}

}  // namespace

DevicePtr make_device(ControlChannel& channel, const BackendOptions& options) {
  if (options.transport.empty() || options.transport == "tcp") return make_tcp(channel, options);
  if (options.transport == "ibverbs") return make_ibverbs();
  throw UsageError(fmt::format("--transport: unknown transport '{}'; accepted: tcp, ibverbs",
                               options.transport));
}

}  // namespace ccl_tests::gloo_module
