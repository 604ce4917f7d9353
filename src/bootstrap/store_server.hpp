// A TCPStore server, so that the job's own store and torchrun's are one and the same to a client.
#pragma once

#include <memory>
#include <string>

#include "src/bootstrap/probation_limits.hpp"

namespace ccl_tests {

// Serves on a thread of its own until destroyed. Speaks VALIDATE, SET, COMPARE_SET, GET, ADD,
// CHECK, WAIT, GETNUMKEYS, DELETE_KEY, APPEND, MULTI_GET, MULTI_SET, CANCEL_WAIT and PING; whoever
// sends anything else is disconnected, and so are, within their limits, those who say nothing or
// stop in the middle of a request.
class StoreServer {
 public:
  // Port 0: any. Address empty: all interfaces, IPv4 and IPv6. Throws std::system_error (the port
  // is taken, ...).
  explicit StoreServer(int port, const std::string& address = {}, ProbationLimits strangers = {});
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;
  int port() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ccl_tests
