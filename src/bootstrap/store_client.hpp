// A client of a TCPStore, such as that of a torchrun agent, with the protocol of PyTorch 2.2 and
// later. Only for .cpp files: includes Asio.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/bootstrap/net.hpp"

namespace ccl_tests {

enum class StoreOp : std::uint8_t {
  validate = 0,
  set = 1,
  get = 3,
  wait = 6,
  delete_key = 8,
  cancel_wait = 12,
  ping = 13,
};

inline constexpr std::uint32_t store_magic = 0x3C85F7CE;

// Keys are sent as PyTorch sends them, with "/" before them. Every function blocks until the
// deadline at most and throws Timeout then, Error when the connection is lost. Not thread-safe.
class StoreClient {
 public:
  // Tries again, names' resolution included, until the deadline. Throws UsageError if there is no
  // such name.
  StoreClient(const std::string& host, int port, TimePoint deadline);

  void set(std::string_view key, std::string_view value, TimePoint deadline);
  std::string get(std::string_view key, TimePoint deadline);  // waits until the key exists
  bool remove(std::string_view key, TimePoint deadline);

  // Returns this machine's address, as the store's host sees it.
  std::string local_address() const;

 private:
  void connect(const std::string& host, int port, TimePoint deadline);
  void wait(std::string_view key, TimePoint deadline);
  void send(const std::string& request, TimePoint deadline);
  std::error_code try_read(void* data, std::size_t bytes, TimePoint deadline);
  template <class T>
  T read(TimePoint deadline) {
    T value{};
    require_success(try_read(&value, sizeof(T), deadline));
    return value;
  }
  void require_success(std::error_code error) const;

  std::string name_;  // "host:port"
  asio::io_context io_;
  asio::ip::tcp::socket socket_{io_};
};

}  // namespace ccl_tests
