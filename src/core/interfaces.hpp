// The network interfaces of this host, and which of them a user means.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

struct sockaddr;

namespace ccl_tests {

// One IP address of an interface.
struct InterfaceAddress {
  std::string interface = {};
  std::string address = {};  // as a number: "10.0.0.7", "fd00::7", "fe80::7%eth0"
  bool up = true;
  bool loopback = false;

  bool is_v6() const { return address.find(':') != std::string::npos; }
  bool is_link_local() const { return address.find('%') != std::string::npos; }  // of IPv6
};

// Returns those of this host, in the system's order. Empty if the system does not list them.
std::vector<InterfaceAddress> interface_addresses();

// Returns the bytes that each interface of this host has sent. Empty if the system does not say.
// root: where /proc is, for tests.
std::map<std::string, std::uint64_t> sent_bytes(const std::string& root = "");

// Returns the IP address as a number, an IPv4 one also if IPv6 carries it (::ffff:10.0.0.7). Empty
// if `address` is none.
std::string numeric_address(const sockaddr* address);

// The interfaces that a user means, in the words of NCCL_SOCKET_IFNAME: "eth" is every name that
// begins so, "=eth0" this name, "^lo,docker" all names that do not begin so, "^=lo" all others. An
// item may also be an address. Other than in NCCL, an item that is the name of an interface means
// that one.
struct InterfaceChoice {
  bool excludes = false;
  bool exact = false;
  std::vector<std::string> items = {};
};

// Throws UsageError if `text` has no item or an empty one.
InterfaceChoice parse_interfaces(std::string_view text);

// Returns those of `all` that are up and that `choice` means: in the order of its items, the
// loopback interface last if it excludes others. Empty if there is none. Pure.
std::vector<InterfaceAddress> matching(const InterfaceChoice& choice,
                                       const std::vector<InterfaceAddress>& all);

// Returns the same for `text`. Throws UsageError if there is none, which begins with `source`: the
// flag or variable that says `text`. Pure.
std::vector<InterfaceAddress> chosen_addresses(std::string_view source, std::string_view text,
                                               const std::vector<InterfaceAddress>& all);

}  // namespace ccl_tests
