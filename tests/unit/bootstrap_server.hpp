// A control server for tests, and processes that they make by hand.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/bootstrap/control_client.hpp"
#include "src/bootstrap/control_server.hpp"
#include "src/bootstrap/job_key.hpp"
#include "src/core/error.hpp"
#include "tests/unit/bootstrap_raw_socket.hpp"

namespace ccl_tests {

inline const std::string key = job_key("job", "secret");

inline Hello hello(int process, int processes, int ranks_per_process = 1) {
  Hello h;
  h.nonce = "nonce";
  h.proof = job_proof(key, Side::process, h.nonce);
  h.version = "1.0";
  h.host = "node" + std::to_string(process);
  h.process = process;
  h.processes = processes;
  h.ranks_per_process = ranks_per_process;
  h.pid = 100 + process;
  return h;
}

inline std::vector<std::string> all_gather(ControlClient& client, std::string_view bytes,
                                           double limit_s) {
  return client.exchange(ExchangeKind::all_gather, Team{}, bytes, limit_s);
}

// A server of a job of two processes, the links of which the tests make by hand.
class ServerTest : public testing::Test {
 protected:
  void start(int processes, int ranks_per_process = 1, double heartbeat_s = 10,
             int stopped_heartbeats = 30, int silent_heartbeats = 30) {
    ControlServerOptions options;
    options.self = hello(0, processes, ranks_per_process);
    options.key = key;
    options.heartbeat_s = heartbeat_s;
    options.stopped_heartbeats = stopped_heartbeats;
    options.silent_heartbeats = silent_heartbeats;
    options.strangers = {0.2, 20};
    options.init_timeout_s = 30;
    options.may_be_shared = may_be_shared_;
    options.patience_s = 0.3;
    options.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_.emplace_back(line);
    };
    server_ = std::make_unique<ControlServer>(std::move(options));
  }

  std::unique_ptr<ControlClient> link(const Hello& self, double heartbeat_s = 2) {
    LinkOptions options;
    options.heartbeat_s = heartbeat_s;
    options.self = self;
    options.key = key;
    return std::make_unique<ControlClient>(options, "127.0.0.1", server_->port(), deadline_in(30));
  }

  // How a process that is not let in learns why: at once, or when it is in.
  Failure end_of(const Hello& self) {
    try {
      return link(self)->wait_failure(30);
    } catch (const Error& error) {
      return {exit_code(error.code()), error.what()};
    }
  }

  // A process that can be made to do what no Control would do.
  test::RawSocket raw(const Hello& self) {
    test::RawSocket socket = test::RawSocket::connected_to(server_->port());
    socket.send(std::string(control_magic) + encode(self));
    return socket;
  }

  std::vector<std::string> log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }

  bool may_be_shared_ = false;
  std::mutex mutex_;
  std::vector<std::string> log_;
  std::unique_ptr<ControlServer> server_;
};

}  // namespace ccl_tests
