// The middle of the control plane, in process 0: knows every process of the job, carries exchanges,
// and names whoever is missing, gone or not what the others are. Only for .cpp files: includes Asio.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "src/bootstrap/acceptor.hpp"
#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/exchanges.hpp"
#include "src/bootstrap/members.hpp"

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

  int port() const { return acceptor_.port(); }

  // As ControlChannel's, in the order of processes.
  std::vector<std::string> local_addresses() { return attendance_.local_addresses(); }

  // A connection for process 0 itself, which needs no network: the descriptor of its end.
  int attach();

  // Names the ranks that have not come.
  std::vector<std::string> missing() {
    return on_own_thread([this] { return members_.missing_ranks(); });
  }

  // Until as many processes as the job should have came, wanted or not, at most limit_s: after a
  // failure, so that those who are still on their way learn of it.
  void wait_all_came(double limit_s) { attendance_.wait_all_came(limit_s); }

  // Until every process has written what it has to say about a failure, was silent when that came, has left or is gone; at most
  // limit_s. False if some have not.
  bool wait_all_reported(double limit_s) { return attendance_.wait_all_reported(limit_s); }

  // Until every process has left or is gone, at most limit_s.
  void wait_all_left(double limit_s) { attendance_.wait_all_left(limit_s); }

 private:
  AcceptorCallbacks callbacks();
  void admit(Peer& peer, const Hello& hello);
  void on_frame(Peer& peer, const Frame& frame);
  void on_close(Peer& peer);
  std::string answer(const Hello& hello, FrameType type) const;
  void send_elsewhere(Peer& peer, const Hello& hello);
  void take_refusal(Peer& peer, const Hello& hello);
  void await_all_who_differ();
  void fail_disagreement();
  void refuse(Peer& peer, const Hello& hello, const Failure& failure);
  void contribute(Peer& peer, Contribution contribution);
  void goodbye(Peer& peer);
  Failure gone(const Peer& peer, const char* how) const;
  void lose(Peer& peer, const Failure& failure);
  void fail(Failure failure, Peer* origin = nullptr);
  void fail_late(const char* what, const std::vector<int>& processes);
  void give_up_silent(Failure& failure);
  void init_timeout();
  void deliver(TeamExchanges& team);
  void watch(TimePoint deadline);
  void round_timeout();
  void require_nobody_left();
  void require_nobody_stopped();
  void heartbeat();
  void send_to(int process, const std::shared_ptr<const std::string>& bytes);

  // Returns what `action` returns.
  template <class Action>
  auto on_own_thread(Action action) -> decltype(action()) {
    std::packaged_task<decltype(action())()> task(std::move(action));
    auto result = task.get_future();
    asio::post(io_, [task = std::move(task)]() mutable { task(); });
    return result.get();
  }
  template <class Action>
  void at(asio::steady_timer& timer, TimePoint deadline, Action action) {
    timer.expires_at(deadline);
    timer.async_wait([action](std::error_code error) {
      if (!error) action();
    });
  }

  ControlServerOptions options_;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  asio::steady_timer init_timer_{io_}, heartbeat_timer_{io_}, round_timer_{io_};
  Acceptor acceptor_;
  Members members_;
  int left_ = 0;  // members that have said goodbye
  bool welcomed_ = false;
  OtherJobs other_jobs_;
  std::optional<Failure> failed_;
  Exchanges exchanges_;
  TimePoint watched_ = TimePoint::max();  // what round_timer_ is set to
  Attendance attendance_;
  std::thread thread_;
};

}  // namespace ccl_tests
