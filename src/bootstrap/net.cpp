#include "src/bootstrap/net.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>
#include <asio/ip/v6_only.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <future>

#include "src/core/error.hpp"
#include "src/core/interfaces.hpp"
#include "src/core/quote.hpp"
#include "src/core/thread.hpp"

namespace ccl_tests {
namespace {

using asio::ip::tcp;

tcp::acceptor listen_at(asio::io_context& io, const tcp::endpoint& endpoint) {
  tcp::acceptor acceptor(io);
  acceptor.open(endpoint.protocol());
  ::fcntl(acceptor.native_handle(), F_SETFD, FD_CLOEXEC);
  acceptor.set_option(asio::socket_base::reuse_address(true));
  if (endpoint.address().is_v6()) acceptor.set_option(asio::ip::v6_only(false));
  acceptor.bind(endpoint);
  acceptor.listen(4096);
  return acceptor;
}

tcp::acceptor adopt_listener(asio::io_context& io, int descriptor) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  int listens = 0;
  socklen_t flag_size = sizeof(listens);
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag_size) != 0 ||
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::system_error(errno, std::system_category());
  if (listens == 0) throw std::system_error(EINVAL, std::system_category());
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return {io, address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), descriptor};
}

// The answer that a thread of its own found.
struct LookUp {
  Endpoints endpoints;
  std::error_code error;
};

std::system_error cannot_resolve(const std::string& host, std::error_code error) {
  return {error, fmt::format("the name {} cannot be resolved", host)};
}

}  // namespace

std::vector<std::string> host_addresses() {
  std::vector<std::string> outside, loopback;
  for (const InterfaceAddress& one : interface_addresses())
    if (one.up && !one.is_link_local()) (one.loopback ? loopback : outside).push_back(one.address);
  outside.insert(outside.end(), loopback.begin(), loopback.end());
  if (outside.empty()) outside.emplace_back("127.0.0.1");
  return outside;
}

std::string address_text(const std::string& host, int port) {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

tcp::acceptor listen_on(asio::io_context& io, const Listen& listen) {
  if (listen.descriptor >= 0) return adopt_listener(io, listen.descriptor);
  const auto port = static_cast<std::uint16_t>(listen.port);
  if (!listen.address.empty()) return listen_at(io, {asio::ip::make_address(listen.address), port});
  try {
    return listen_at(io, {tcp::v6(), port});
  } catch (const std::system_error& error) {
    if (error.code() == asio::error::address_in_use) throw;
    return listen_at(io, {tcp::v4(), port});  // a machine without IPv6
  }
}

std::string host_alone(std::string_view name, const std::string& text) {
  const bool in_brackets = text.size() > 2 && text.front() == '[' && text.back() == ']';
  std::string host = in_brackets ? text.substr(1, text.size() - 2) : text;
  std::error_code is_name;
  if (asio::ip::make_address_v6(host, is_name); !is_name) return host;
  const auto is_foreign = [](char c) {
    constexpr std::string_view separators = ":/[]@,;";
    return static_cast<unsigned char>(c) <= ' ' || separators.find(c) != std::string_view::npos;
  };
  if (!in_brackets && std::none_of(host.begin(), host.end(), is_foreign)) return host;
  throw UsageError(
      fmt::format("{}: {} is not a host; accepted: a name or an address alone (node1, 10.0.0.7, "
                  "::1), and the port in MASTER_PORT",
                  name, quote(text)));
}

std::string address_to_listen_on(const std::string& host) {
  if (host == "localhost") return "127.0.0.1";
  std::error_code is_name;
  const asio::ip::address address = asio::ip::make_address(host, is_name);
  return !is_name && address.is_loopback() ? host : std::string();
}

Endpoints look_up_name(const std::string& host, int port) {
  asio::io_context io;
  std::error_code error;
  const auto found =
      tcp::resolver(io).resolve(host, std::to_string(port), tcp::resolver::numeric_service, error);
  if (error) throw std::system_error(error, host);
  return {found.begin(), found.end()};
}

Endpoints resolve(const std::string& host, int port, TimePoint deadline,
                  std::function<Endpoints(const std::string&, int)> look_up) {
  std::error_code is_name;
  const asio::ip::address number = asio::ip::make_address(host, is_name);
  if (!is_name) return {{number, static_cast<std::uint16_t>(port)}};

  std::packaged_task<LookUp()> task([host, port, look_up = std::move(look_up)]() -> LookUp {
    try {
      return {look_up(host, port), {}};
    } catch (const std::system_error& error) {
      return {{}, error.code()};
    }
  });
  std::future<LookUp> answer = task.get_future();
  start_thread(std::move(task)).detach();
  if (answer.wait_until(deadline) != std::future_status::ready) {
    throw cannot_resolve(host, asio::error::timed_out);
  }
  LookUp found = answer.get();
  if (found.error) throw cannot_resolve(host, found.error);
  return std::move(found.endpoints);
}

bool any_is_own(const Endpoints& addresses) {
  return std::any_of(addresses.begin(), addresses.end(), [](const tcp::endpoint& endpoint) {
    asio::io_context io;
    tcp::socket socket(io);
    std::error_code error;
    socket.open(endpoint.protocol(), error);
    if (!error) socket.bind({endpoint.address(), 0}, error);
    return error.value() != EADDRNOTAVAIL && error.value() != EAFNOSUPPORT;
  });
}

void UnknownName::answered(const std::string& host, std::error_code error) {
  constexpr int believed = 3;
  answers_ = error == asio::error::host_not_found ? answers_ + 1 : 0;
  if (answers_ < believed) return;
  throw UsageError(fmt::format(
      "there is no such name as {} ({} look-ups say so); accepted: a name or an address "
      "of rank 0's host, in MASTER_ADDR",
      quote(host), believed));
}

tcp::socket connect_once(asio::io_context& io, const Endpoints& addresses, TimePoint deadline) {
  std::string why;
  std::error_code error = asio::error::host_not_found;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto now = std::chrono::steady_clock::now();
    const TimePoint share = now + (deadline - now) / static_cast<int>(addresses.size() - i);
    tcp::socket socket(io);
    error = run_operation(
        io, share, [&](auto done) { socket.async_connect(addresses[i], done); },
        [&] { socket.close(); });
    if (!error) {
      socket.set_option(tcp::no_delay(true));
      return socket;
    }
    const bool is_last = i + 1 == addresses.size();
    why += address_text(addresses[i].address().to_string(), addresses[i].port());
    if (!is_last) why += ": " + error.message() + "; ";
  }
  throw std::system_error(error, why);
}

std::string to_text(const ServerAddress& address) {
  return address_text(address.host, address.port) + " " + address.token;
}

std::optional<ServerAddress> parse_address(const std::string& text) {
  const std::size_t space = text.rfind(' ');
  if (space == std::string::npos) return std::nullopt;
  const std::size_t colon = text.rfind(':', space);
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  ServerAddress address{text.substr(0, colon), std::atoi(text.c_str() + colon + 1),
                        text.substr(space + 1)};
  if (address.host.front() == '[') address.host = address.host.substr(1, colon - 2);
  return address;
}

}  // namespace ccl_tests
