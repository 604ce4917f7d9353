#include "src/bootstrap/server_address.hpp"

#include <cstdlib>

#include "src/bootstrap/net.hpp"

namespace ccl_tests {

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
