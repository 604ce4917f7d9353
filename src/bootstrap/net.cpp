#include "src/bootstrap/net.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <unistd.h>

#include <array>
#include <asio/connect.hpp>
#include <asio/ip/v6_only.hpp>

namespace ccl {
namespace {

using asio::ip::tcp;

tcp::acceptor listen_at(asio::io_context& io, const tcp::endpoint& endpoint) {
  tcp::acceptor acceptor(io);
  acceptor.open(endpoint.protocol());
  acceptor.set_option(asio::socket_base::reuse_address(true));
  if (endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(false));
  acceptor.bind(endpoint);
  acceptor.listen(4096);
  return acceptor;
}

}  // namespace

std::string this_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown host";
  return name.data();
}

std::vector<std::string> local_addresses() {
  std::vector<std::string> outside, loopback;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {"127.0.0.1"};
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_UP) == 0) continue;
    const int family = i->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    std::array<char, NI_MAXHOST> text{};
    const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::getnameinfo(i->ifa_addr, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) !=
        0)
      continue;
    const std::string address = text.data();
    if (address.find('%') != std::string::npos) continue;  // link-local
    ((i->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : outside).push_back(address);
  }
  ::freeifaddrs(list);
  outside.insert(outside.end(), loopback.begin(), loopback.end());
  return outside;
}

std::string address_text(const std::string& host, int port) {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

tcp::acceptor listen_on(asio::io_context& io, int port, const std::string& address) {
  const auto port16 = static_cast<std::uint16_t>(port);
  if (!address.empty()) return listen_at(io, {asio::ip::make_address(address), port16});
  try {
    return listen_at(io, {tcp::v6(), port16});
  } catch (const std::system_error& error) {
    if (error.code() == asio::error::address_in_use) throw;
    return listen_at(io, {tcp::v4(), port16});  // a machine without IPv6
  }
}

tcp::socket connect_once(asio::io_context& io, const std::string& host, int port,
                         Deadline deadline) {
  tcp::resolver resolver(io);
  tcp::resolver::results_type addresses;
  std::error_code error = run_operation(
      io, deadline,
      [&](auto done) {
        resolver.async_resolve(host, std::to_string(port), tcp::resolver::numeric_service,
                               [&addresses, done](std::error_code e, const auto& found) mutable {
                                 addresses = found;
                                 done(e);
                               });
      },
      [&] { resolver.cancel(); });
  if (error) throw std::system_error(error, fmt::format("the name {} cannot be resolved", host));

  tcp::socket socket(io);
  error = run_operation(
      io, deadline, [&](auto done) { asio::async_connect(socket, addresses, done); },
      [&] { socket.close(); });
  if (error) throw std::system_error(error, address_text(host, port));
  socket.set_option(tcp::no_delay(true));
  return socket;
}

}  // namespace ccl
