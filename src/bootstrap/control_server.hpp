// The middle of the control plane, in process 0: knows every process of the job, carries exchanges,
// and names whoever is missing, gone or not what the others are. Only for .cpp files: includes Asio.
#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "src/bootstrap/exchanges.hpp"
#include "src/bootstrap/members.hpp"
#include "src/bootstrap/net.hpp"

namespace ccl_tests {

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

  int port() const { return acceptor_.port(); }

  // Makes a connection for process 0 itself without the network. Returns the descriptor of its end.
  int attach();

  // Names the ranks that have not come.
  std::vector<std::string> missing() {
    return on_own_thread([this] { return members_.missing_ranks(); });
  }

  Attendance attendance;

 private:
  AcceptorCallbacks callbacks();
  void admit(Peer& peer, const Hello& hello);
  void on_frame(Peer& peer, const Frame& frame);
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
  void deliver(TeamExchanges& team);
  void watch(TimePoint deadline);
  void round_timeout();
  void require_nobody_left();
  void require_nobody_stopped();
  void heartbeat();

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
  std::thread thread_;
};

}  // namespace ccl_tests
