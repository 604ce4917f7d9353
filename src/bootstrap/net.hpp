// Asio sockets with deadlines, for threads that may block. Only for .cpp files: includes Asio.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "src/core/deadline.hpp"

namespace ccl_tests {

// Returns numeric addresses of the interfaces that are up: those that other hosts may reach first,
// loopback last; link-local ones are left out.
std::vector<std::string> host_addresses();

// Returns "10.0.0.7:29500", "[fe80::1]:29500".
std::string address_text(const std::string& host, int port);

// Where the control server listens.
struct Listen {
  std::string address = {};  // empty: all interfaces, IPv4 and IPv6 where the machine has it
  int port = 0;              // 0: any
  int descriptor = -1;       // instead, if not below 0: a socket that listens already
};

// Listens, and owns the descriptor from now on, which programs that this process starts do not
// inherit. Throws std::system_error, also if the descriptor is not a listening socket.
asio::ip::tcp::acceptor listen_on(asio::io_context& io, const Listen& listen);

// Returns the address to listen on if others come to `host`: that of the loopback interface if
// `host` is one, otherwise nothing, for all interfaces.
std::string address_to_listen_on(const std::string& host);

using Endpoints = std::vector<asio::ip::tcp::endpoint>;

// Asks the system for the addresses of `host`; blocks for as long as the system likes. Throws
// std::system_error.
Endpoints look_up_name(const std::string& host, int port);

// Returns the addresses of `host`: a number or a name. A look-up that has not ended by the deadline is left
// to itself on a thread of its own: nothing can end it. Throws std::system_error.
Endpoints resolve(const std::string& host, int port, TimePoint deadline,
                  std::function<Endpoints(const std::string&, int)> look_up = look_up_name);

// Returns true if one of the addresses is this host's, or the system cannot tell.
bool any_is_own(const Endpoints& addresses);

// Returns the host that MASTER_ADDR, or what else is called `name`, says: an address of IPv6 without its
// brackets. Throws UsageError on a port, a scheme and whatever else no host has.
std::string host_alone(std::string_view name, const std::string& text);

// Counts answers that there is no such name: three in a row are believed.
class UnknownName {
 public:
  // error: of a look-up or a connection. Throws UsageError on the third answer that there is no `host`.
  void answered(const std::string& host, std::error_code error);
  bool suspected() const { return answers_ > 0; }

 private:
  int answers_ = 0;
};

// Connects to the first address that answers; those before it get their share of the time. One
// attempt each; throws std::system_error with all addresses and the last one's error
// (asio::error::timed_out at the deadline). `io` must have no other work.
asio::ip::tcp::socket connect_once(asio::io_context& io, const Endpoints& addresses,
                                   TimePoint deadline);

// Runs one asynchronous operation of `io` until it ends; at the deadline calls cancel(), which must
// make it end, and returns asio::error::timed_out.
template <class Start, class Cancel>
std::error_code run_operation(asio::io_context& io, TimePoint deadline, Start start,
                              Cancel cancel) {
  std::optional<std::error_code> result;
  io.restart();
  start([&result](std::error_code error, const auto&...) { result = error; });
  while (!result && io.run_one_until(deadline) != 0) {
  }
  if (result) return *result;
  cancel();
  io.restart();
  io.run();
  if (result && !*result) return {};  // it ended at the last moment
  return asio::error::timed_out;
}

// Where process 0's server listens, as a store or MPI carries it.
struct ServerAddress {
  std::string host;
  int port = 0;
  std::string token;  // part of the job's key
};

// "host:port token". parse_address returns nullopt if `text` is nothing of the kind.
std::string to_text(const ServerAddress& address);
std::optional<ServerAddress> parse_address(const std::string& text);

}  // namespace ccl_tests
