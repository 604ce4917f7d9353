// One process's connection to the server. Only for .cpp files: includes Asio.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "src/bootstrap/control_connection.hpp"
#include "src/core/deadline.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {

struct LinkOptions {
  Hello self;
  std::string key;  // see job_key.hpp
  double heartbeat_s = 2;
  int silent_heartbeats = 30;   // so many without a sign of life of the server: process 0 is gone
  int stopped_heartbeats = 30;  // so many while an exchange or a call waits: it is stopped
  std::function<void(const Failure&)> on_failure;
};

// Has a thread of its own. Functions but abort, wait_failure, wait_process_0_gone, end_report and
// exchange of different teams are for one thread at a time.
class ControlClient {
 public:
  // Connects and is accepted by the deadline. Throws NoServer if no server of this job is there
  // (yet), Error or Timeout when the server refuses.
  ControlClient(LinkOptions options, const std::string& host, int port, TimePoint deadline);
  // descriptor: of ControlServer::attach.
  ControlClient(LinkOptions options, int descriptor, TimePoint deadline);
  ~ControlClient();  // leaves in order

  void wait_welcome(double limit_s);  // until all processes are here
  void report_failures();  // calls on_failure from now on; throws a failure known already
  // As Control::exchange.
  std::vector<std::string> exchange(ExchangeKind kind, const Team& team, std::string_view bytes,
                                    double limit_s);
  void abort(const Failure& why) noexcept;
  Failure wait_failure(double limit_s);
  // As Control's; on any thread.
  void report_status(std::function<std::vector<RankStatus>()> statuses);
  bool wait_process_0_gone(double limit_s);
  const std::vector<std::string>& local_addresses() const { return local_addresses_; }
  void end_report();  // tells the server, and does not wait

 private:
  // The others call it, so that the destructor is called after an exception.
  explicit ControlClient(LinkOptions options) : options_(std::move(options)) {}
  void begin(ControlConnection::Socket socket, TimePoint deadline);
  std::vector<RankStatus> statuses();
  Failure lost(Exit code, const std::string& message) const;
  Failure silence() const;
  void take(const Frame& frame);
  void on_frame(const Frame& frame);
  void on_first_frame(const Frame& frame);
  // failure: what that means for the job if the server had been accepted.
  void close(const std::string& why, const std::function<Failure()>& failure);
  // lock: of mutex_, so that nobody who waits sees that the connection is closed and not why.
  void fail(const Failure& failure, std::unique_lock<std::mutex> lock);
  void heartbeat();
  void post_send(const std::string& bytes);
  void throw_if_over() const;
  bool over() const { return failure_ || closed_ || server_left_; }

  LinkOptions options_;
  asio::io_context io_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  asio::steady_timer heartbeat_timer_{io_};
  std::shared_ptr<ControlConnection> connection_;
  std::vector<std::string> local_addresses_;  // as ControlChannel's
  std::atomic<int> silent_ = 0;               // heartbeats since the server's last sign of life
  std::atomic<int> waiting_ = 0;              // exchanges

  std::mutex statuses_mutex_;
  std::function<std::vector<RankStatus>()> statuses_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Hello> server_;  // process 0, once accepted
  bool is_elsewhere_ = false;    // the server has other settings
  bool welcomed_ = false, reporting_ = false;
  bool leaving_ = false, server_left_ = false, closed_ = false;
  bool aborted_ = false, abort_heard_ = false;
  std::string closed_why_;
  std::string unsent_;  // frames
  struct Exchanges {    // of one team
    std::uint64_t next_round = 0;
    std::optional<Round> result;
  };
  std::map<std::string, Exchanges> exchanges_;  // by team
  std::optional<Failure> failure_;
  std::thread thread_;
};

struct NoServer : std::runtime_error {
  explicit NoServer(const std::string& what, std::error_code error = {})
      : std::runtime_error(what), code(error) {}

  std::error_code code;  // of the look-up or the connection; none if somebody is there
};

// A process 0 is there whose settings are not this process's: another job's, or a process is
// started with wrong flags.
struct OtherSettings : NoServer {
  using NoServer::NoServer;
};

}  // namespace ccl_tests
