// One process's connection to the server.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/deadline.hpp"

namespace ccl_tests {

struct LinkOptions {
  Hello self;
  std::string key;  // see job_key.hpp
  double heartbeat_s = 2;
  int silent_heartbeats = 30;   // so many without a sign of life of the server: process 0 is gone
  int stopped_heartbeats = 30;  // so many while an exchange or a call waits: it is stopped
  std::function<void(const Failure&)> on_failure;
};

// Has a thread of its own. Functions but abort, wait_failure, wait_process_0_gone, end_report and exchange of different teams are
// for one thread at a time.
class ControlClient {
 public:
  // Connects and is accepted by the deadline. Throws NoServer if no server of this job is there (yet),
  // Error or Timeout when the server refuses.
  ControlClient(LinkOptions options, const std::string& host, int port, TimePoint deadline);
  ControlClient(LinkOptions options, int descriptor,
                TimePoint deadline);  // of ControlServer::attach
  ~ControlClient();                   // leaves in order
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  void wait_welcome(double limit_s);  // until all processes are here
  void report_failures();  // calls on_failure from now on; throws a failure known already
  // As Control::exchange.
  std::vector<std::string> exchange(ExchangeKind kind, const Team& team, std::string_view bytes,
                                    double limit_s);
  std::vector<std::string> all_gather(std::string_view bytes, double limit_s) {
    return exchange(ExchangeKind::all_gather, Team{}, bytes, limit_s);
  }
  void abort(const Failure& why) noexcept;
  Failure wait_failure(double limit_s);
  void report_status(
      std::function<std::vector<RankStatus>()> statuses);  // as Control's; any thread
  bool wait_process_0_gone(double limit_s);
  std::vector<std::string> local_addresses() const;  // as ControlChannel's
  void end_report();                                 // tells the server, and does not wait

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

class NoServer : public std::runtime_error {
 public:
  // code: of the look-up or the connection; none if somebody is there.
  explicit NoServer(const std::string& what, std::error_code code = {})
      : std::runtime_error(what), code_(code) {}
  std::error_code code() const { return code_; }

 private:
  std::error_code code_;
};

// A process 0 is there whose settings are not this process's: another job's, or a process is started
// with wrong flags.
class OtherSettings : public NoServer {
 public:
  using NoServer::NoServer;
};

}  // namespace ccl_tests
