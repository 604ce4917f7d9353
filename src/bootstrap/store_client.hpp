// A client of a TCPStore, such as that of a torchrun agent.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "src/bootstrap/deadline.hpp"

namespace ccl_tests {

// Keys are sent as PyTorch sends them, with "/" before them. Every function blocks until the
// deadline at most and throws Timeout then, Error when the connection is lost. Not thread-safe.
class StoreClient {
 public:
  // Tries again, names' resolution included, until the deadline. Throws UsageError if there is no such
  // name.
  StoreClient(const std::string& host, int port, TimePoint deadline);
  ~StoreClient();
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;

  void set(std::string_view key, std::string_view value, TimePoint deadline);
  std::string get(std::string_view key, TimePoint deadline);  // waits until the key exists
  std::int64_t add(std::string_view key, std::int64_t amount, TimePoint deadline);
  bool remove(std::string_view key, TimePoint deadline);

  // This machine's address, as the store's host sees it.
  std::string local_address() const;
  bool local_address_is_loopback() const;

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace ccl_tests
