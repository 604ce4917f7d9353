// Where process 0's server listens, as a store or MPI carries it.
#pragma once

#include <optional>
#include <string>

namespace ccl_tests {

struct ServerAddress {
  std::string host;
  int port = 0;
  std::string token;  // part of the job's key
};

// "host:port token". parse_address returns nullopt if `text` is nothing of the kind.
std::string to_text(const ServerAddress& address);
std::optional<ServerAddress> parse_address(const std::string& text);

}  // namespace ccl_tests
