#include "src/core/interfaces.hpp"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

using Addresses = std::vector<InterfaceAddress>;

// Returns an address as numeric_address writes it, without the brackets of "[fd00::7]". Empty if
// `text` is none.
std::string as_address(std::string text) {
  if (text.size() > 1 && text.front() == '[' && text.back() == ']')
    text = text.substr(1, text.size() - 2);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* list = nullptr;
  if (text.find_first_of(".:") == std::string::npos ||
      ::getaddrinfo(text.c_str(), nullptr, &hints, &list) != 0)
    return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  return numeric_address(list->ai_addr);
}

template <class Condition>
Addresses those(const Addresses& all, Condition condition) {
  Addresses result;
  std::copy_if(all.begin(), all.end(), std::back_inserter(result), condition);
  return result;
}

bool begins_so(const InterfaceAddress& one, const std::string& item, bool exact) {
  return exact ? one.interface == item : one.interface.starts_with(item);
}

Addresses not_excluded(const InterfaceChoice& choice, const Addresses& all) {
  Addresses result = those(all, [&](const auto& one) {
    return std::none_of(choice.items.begin(), choice.items.end(), [&](const std::string& item) {
      return begins_so(one, item, choice.exact) || one.address == as_address(item);
    });
  });
  std::stable_partition(result.begin(), result.end(),
                        [](const auto& one) { return !one.loopback; });
  return result;
}

// An item is an address, or else a whole name, or else the beginning of names.
Addresses meant_by(const std::string& item, bool exact, const Addresses& all) {
  const std::string address = as_address(item);
  Addresses result =
      those(all, [&](const auto& one) { return !address.empty() && one.address == address; });
  if (result.empty()) result = those(all, [&](const auto& one) { return one.interface == item; });
  if (result.empty())
    result = those(all, [&](const auto& one) { return begins_so(one, item, exact); });
  return result;
}

// "eth0 (10.0.0.7, fd00::7), lo (127.0.0.1)"
std::string text_of(const Addresses& all) {
  constexpr std::size_t most = 12;
  std::vector<std::pair<std::string, std::string>> interfaces;
  for (const InterfaceAddress& one : all) {
    const auto same = std::find_if(interfaces.begin(), interfaces.end(),
                                   [&](const auto& other) { return other.first == one.interface; });
    if (same == interfaces.end())
      interfaces.emplace_back(one.interface, one.address);
    else
      same->second += ", " + one.address;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(most, interfaces.size()); ++i)
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", interfaces[i].first, interfaces[i].second);
  if (interfaces.size() > most) text += fmt::format(" and {} more", interfaces.size() - most);
  return text.empty() ? "none, no interface is up" : text;
}

}  // namespace

std::vector<InterfaceAddress> interface_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  Addresses result;
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    const std::string address = numeric_address(i->ifa_addr);
    if (!address.empty())
      result.push_back(
          {i->ifa_name, address, (i->ifa_flags & IFF_UP) != 0, (i->ifa_flags & IFF_LOOPBACK) != 0});
  }
  return result;
}

std::map<std::string, std::uint64_t> sent_bytes(const std::string& root) {
  std::map<std::string, std::uint64_t> sent;
  std::ifstream file(root + "/proc/net/dev");  // "  eth0: 8 numbers of what came, 8 of what went"
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::istringstream numbers(line.substr(colon + 1));
    std::uint64_t bytes = 0;
    for (int number = 0; number < 9; ++number) numbers >> bytes;
    if (numbers)
      sent[line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' '))] = bytes;
  }
  return sent;
}

std::string numeric_address(const sockaddr* address) {
  if (address == nullptr) return {};
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  socklen_t length = sizeof(v4);
  if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) != 0) {
      std::memcpy(&v4.sin_addr, &v6->sin6_addr.s6_addr[12], sizeof(v4.sin_addr));
      address = reinterpret_cast<const sockaddr*>(&v4);
    } else {
      length = sizeof(sockaddr_in6);
    }
  } else if (address->sa_family != AF_INET) {
    return {};
  }
  std::array<char, NI_MAXHOST> text{};
  const bool known =
      ::getnameinfo(address, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0;
  return known ? text.data() : std::string();
}

InterfaceChoice parse_interfaces(std::string_view text) {
  InterfaceChoice choice;
  std::string_view rest = text;
  choice.excludes = rest.starts_with('^');
  if (choice.excludes) rest.remove_prefix(1);
  choice.exact = rest.starts_with('=');
  if (choice.exact) rest.remove_prefix(1);
  while (true) {
    const std::size_t comma = rest.find(',');
    choice.items.emplace_back(rest.substr(0, comma));
    const std::string& item = choice.items.back();
    if (item.empty() || item.find_first_of("^= \t") != std::string::npos)
      throw UsageError(fmt::format(
          "{} names no interface; accepted: a name or the beginning of names (eth), =eth0, "
          "^lo,docker, an address, a list",
          quote(text)));
    if (comma == std::string_view::npos) return choice;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<InterfaceAddress> matching(const InterfaceChoice& choice,
                                       const std::vector<InterfaceAddress>& all) {
  const Addresses up = those(all, [](const auto& one) { return one.up; });
  if (choice.excludes) return not_excluded(choice, up);
  Addresses result;
  for (const std::string& item : choice.items)
    for (const InterfaceAddress& one : meant_by(item, choice.exact, up))
      if (std::none_of(result.begin(), result.end(), [&](const auto& other) {
            return other.address == one.address && other.interface == one.interface;
          }))
        result.push_back(one);
  return result;
}

std::vector<InterfaceAddress> chosen_addresses(std::string_view source, std::string_view text,
                                               const std::vector<InterfaceAddress>& all) {
  const InterfaceChoice choice = parse_interfaces(text);
  Addresses result = matching(choice, all);
  if (!result.empty()) return result;
  const Addresses up = matching({.excludes = true}, all);
  if (choice.excludes)
    throw UsageError(
        fmt::format("{}: {} leaves no interface that is up with an IP address; accepted: {}",
                    source, quote(text), text_of(up)));
  const bool address = choice.items.size() == 1 && !as_address(choice.items.front()).empty();
  const std::string none =
      address ? fmt::format("no interface that is up has the address {}", quote(text))
              : fmt::format("there is no interface {} that is up with an IP address", quote(text));
  throw UsageError(fmt::format("{}: {}; accepted: {}", source, none, text_of(up)));
}

}  // namespace ccl_tests
