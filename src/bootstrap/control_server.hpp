// The middle of the control plane, in process 0: knows every process of the job, carries exchanges,
// and names whoever is missing, gone or not what the others are.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/unverified.hpp"

namespace ccl_tests {

// Where the server listens: a port (0: any) of one address or, if that is empty, of all; or a socket
// that listens already.
struct Listen {
  std::string address = {};
  int port = 0;
  int descriptor = -1;  // the server's from now on
};

struct ControlServerOptions {
  Hello self;       // process 0
  std::string key;  // see job_key.hpp
  Listen listen = {};
  double init_timeout_s = 120;
  double heartbeat_s = 2;
  int silent_heartbeats = 30;   // so many without a sign of life: the process is gone
  int stopped_heartbeats = 30;  // so many, and an exchange or a call waits for it: it is stopped
  // Jobs that nobody has given a name may come to one port. Who has other settings is not in this job
  // then, and looks for its process 0 on.
  bool may_be_shared = false;
  // With processes of other settings, if nobody else is missing: after that time they are of this job.
  double patience_s = 10;
  UnverifiedLimits strangers = {};  // connections that have not said who they are
  std::function<void(std::string_view)> log;
};

// Runs on a thread of its own from construction on. Listens until all processes have come. Throws
// std::system_error.
class ControlServer {
 public:
  explicit ControlServer(ControlServerOptions options);
  ~ControlServer();  // says goodbye to whoever is still there
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  int port() const;

  // As ControlChannel's, in the order of processes.
  std::vector<std::string> local_addresses() const;

  // A connection for process 0 itself, which needs no network: the descriptor of its end.
  int attach();

  // Names the ranks that have not come.
  std::vector<std::string> missing();

  // Until as many processes as the job should have came, wanted or not, at most limit_s: after a
  // failure, so that those who are still on their way learn of it.
  void wait_all_came(double limit_s);

  // Until every process has written what it has to say about a failure, was silent when that came, has left or is gone; at most
  // limit_s. False if some have not.
  bool wait_all_reported(double limit_s);

  // Until every process has left or is gone, at most limit_s.
  void wait_all_left(double limit_s);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ccl_tests
