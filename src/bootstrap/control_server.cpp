#include "src/bootstrap/control_server.hpp"

#include <fmt/format.h>

#include <asio/executor_work_guard.hpp>
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/post.hpp>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

#include "src/bootstrap/acceptor.hpp"
#include "src/bootstrap/hub_rounds.hpp"
#include "src/bootstrap/job_check.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {
class ControlServer::Impl {
 public:
  explicit Impl(HubOptions options)
      : options_(std::move(options)),
        acceptor_(io_, options_.strangers, options_.self.token, options_.log, callbacks()),
        members_(static_cast<std::size_t>(options_.self.processes)),
        rounds_(options_.self.processes) {
    at(init_timer_, deadline_in(options_.init_timeout_s), [this] { init_timeout(); });
    heartbeat();
    thread_ = std::thread([this] { io_.run(); });
  }
  ~Impl();

  int port() const { return acceptor_.port(); }
  int attach();
  void wait_all_came(double limit_s) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds_to_duration(limit_s),
                      [this] { return came_ >= options_.self.processes; });
  }
  void wait_all_left(double limit_s) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, seconds_to_duration(limit_s), [this] { return here_ == 0; });
  }

 private:
  HubCallbacks callbacks();
  void admit(Peer& peer, const Hello& hello);
  void on_frame(Peer& peer, Frame& frame);
  void on_close(Peer& peer);
  std::string accepted() const {
    Hello self = options_.self;
    self.token.clear();
    return encode(self, FrameType::accepted);
  }
  void refuse(Peer& peer, const Failure& failure);
  void contribute(Peer& peer, Contribution contribution);
  void goodbye(Peer& peer);
  void lose(Peer& peer, const std::string& message);
  void fail(Failure failure, Peer* origin = nullptr);
  std::string silent_ones() const;
  void init_timeout();
  void round_timeout();
  void require_nobody_left();
  void heartbeat();
  void broadcast(std::string bytes);
  void send_to(int process, const std::shared_ptr<const std::string>& bytes);
  std::vector<std::string> names(const std::vector<int>& processes) const;
  void count(int change);

  template <class Action>
  void at(asio::steady_timer& timer, TimePoint deadline, Action action) {
    timer.expires_at(deadline);
    timer.async_wait([action](std::error_code error) {
      if (!error) action();
    });
  }

  HubOptions options_;
  asio::io_context io_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{io_.get_executor()};
  asio::steady_timer init_timer_{io_}, heartbeat_timer_{io_}, round_timer_{io_};
  Acceptor acceptor_;
  std::vector<Peer*> members_;  // by process
  std::size_t admitted_ = 0;
  int left_ = 0;  // members that have said goodbye
  bool welcomed_ = false;
  std::optional<Failure> failed_;
  HubRounds rounds_;

  std::mutex mutex_;
  std::condition_variable changed_;
  int here_ = 0;  // members that have neither left nor gone
  int came_ = 0;  // processes that have said who they are
  std::thread thread_;
};

ControlServer::Impl::~Impl() {
  asio::post(io_, [this] {
    heartbeat_timer_.cancel();
    round_timer_.cancel();
    at(init_timer_, deadline_in(1), [this] { io_.stop(); });
    if (!acceptor_.close()) io_.stop();
  });
  thread_.join();
}

int ControlServer::Impl::attach() {
  std::promise<int> result;
  asio::post(io_, [this, &result] {
    try {
      asio::local::stream_protocol::socket mine(io_), theirs(io_);
      asio::local::connect_pair(mine, theirs);
      const int fd = theirs.release();
      acceptor_.add(ControlConnection::Socket(std::move(mine)), "this process");
      result.set_value(fd);
    } catch (...) {
      result.set_exception(std::current_exception());
    }
  });
  return result.get_future().get();
}

HubCallbacks ControlServer::Impl::callbacks() {
  return {[this](Peer& peer, const Hello& hello) { admit(peer, hello); },
          [this](Peer& peer, Frame& frame) { on_frame(peer, frame); },
          [this](Peer& peer, const std::string& why) {
            lose(peer, fmt::format("{} sent nonsense: {}", peer.hello->name(), why));
          },
          [this](Peer& peer) { on_close(peer); }};
}

void ControlServer::Impl::admit(Peer& peer, const Hello& hello) {
  {
    const std::lock_guard lock(mutex_);
    ++came_;
    changed_.notify_all();
  }
  if (failed_) return refuse(peer, *failed_);
  std::string why = disagreement(options_.self, hello);
  Peer* const other = why.empty() ? members_[static_cast<std::size_t>(hello.process)] : nullptr;
  if (other != nullptr) why = twice(*other->hello, hello);
  if (!why.empty()) {
    const Failure failure{exit_code(Exit::failed), why};
    refuse(peer, failure);
    if (!welcomed_) fail(failure);
    return;
  }
  peer.hello = hello;
  peer.connection->trust();
  members_[static_cast<std::size_t>(hello.process)] = &peer;
  peer.connection->send(accepted());
  count(+1);
  if (++admitted_ != members_.size()) return;
  welcomed_ = true;
  init_timer_.cancel();
  broadcast(encode_frame(FrameType::welcome));
}

void ControlServer::Impl::refuse(Peer& peer, const Failure& failure) {
  peer.connection->send(accepted());
  peer.connection->send(encode(failure));
  peer.connection->close_after_writes();
}

void ControlServer::Impl::on_frame(Peer& peer, Frame& frame) {
  switch (frame.type) {
    case FrameType::heartbeat: return;
    case FrameType::contribution: return contribute(peer, decode_contribution(frame.payload));
    case FrameType::failure: return fail(decode_failure(frame.payload), &peer);
    case FrameType::goodbye: return goodbye(peer);
    case FrameType::hello:
    case FrameType::accepted:
    case FrameType::welcome:
    case FrameType::round: break;
  }
  throw Error("an unexpected frame");
}

void ControlServer::Impl::contribute(Peer& peer, Contribution contribution) {
  if (failed_) return;
  if (!welcomed_) throw Error("an exchange before all have come");
  std::string team = contribution.team.name;
  HubRound& round = rounds_.add(peer.hello->process, std::move(contribution));
  const bool complete = round.complete();
  if (complete) {
    Round result = round.take();
    result.team = std::move(team);
    const auto bytes = std::make_shared<const std::string>(encode(result));
    for (const int process : round.processes()) send_to(process, bytes);
  }
  round_timer_.cancel();
  if (rounds_.deadline() != TimePoint::max())
    at(round_timer_, rounds_.deadline(), [this] { round_timeout(); });
  if (!complete) require_nobody_left();
}

// An exchange that somebody has left for good will never complete.
void ControlServer::Impl::require_nobody_left() {
  if (left_ == 0) return;
  const auto has_left = [&](int p) { return members_[static_cast<std::size_t>(p)]->left; };
  const std::vector<std::string> gone = names(rounds_.missing(false, has_left));
  if (gone.empty()) return;
  fail({exit_code(Exit::failed), gone.front() + " has left while others wait for it"});
}

void ControlServer::Impl::goodbye(Peer& peer) {
  if (!welcomed_) return lose(peer, peer.hello->name() + " left before all had come");
  if (peer.left) return;
  peer.left = true;
  ++left_;
  peer.connection->send(encode_frame(FrameType::goodbye));
  count(-1);
  require_nobody_left();
}

void ControlServer::Impl::on_close(Peer& peer) {
  if (!peer.left) lose(peer, peer.hello->gone());
}

void ControlServer::Impl::lose(Peer& peer, const std::string& message) {
  peer.connection->close();
  if (!std::exchange(peer.left, true)) count(-1);
  fail({exit_code(Exit::failed), message});
}

// The first failure is the job's. Whoever reported it hears it last: then all others have.
void ControlServer::Impl::fail(Failure failure, Peer* origin) {
  if (!failed_) {
    failed_ = std::move(failure);
    failed_->message += silent_ones();
    init_timer_.cancel();
    round_timer_.cancel();
    const auto bytes = std::make_shared<const std::string>(encode(*failed_));
    for (const Peer* member : members_) {
      if (member != nullptr && member != origin && member->here()) member->connection->send(bytes);
    }
  }
  if (origin != nullptr) origin->connection->send(encode(*failed_));
}

// Who a failure may come from: a rank that is stopped, or whose machine is, lets the others wait.
std::string ControlServer::Impl::silent_ones() const {
  constexpr int heartbeats = 3;  // missing: at least two whole intervals have passed
  std::vector<std::string> silent;
  for (const Peer* member : members_) {
    if (member != nullptr && member->here() && member->silent >= heartbeats)
      silent.push_back(member->hello->name());
  }
  if (silent.empty()) return {};
  return fmt::format("; for {:g} s there has been no sign of life from {}",
                     (heartbeats - 1) * options_.heartbeat_s, join_names(silent));
}

void ControlServer::Impl::init_timeout() {
  if (welcomed_) return;
  std::vector<std::string> here, missing;
  for (int p = 0; p < options_.self.processes; ++p) {
    const Peer* const member = members_[static_cast<std::size_t>(p)];
    if (member != nullptr) {
      here.push_back(member->hello->name());
    } else {
      missing.push_back(ranks_name(p, options_.self.ranks_per_process));
    }
  }
  fail({exit_code(Exit::timed_out),
        fmt::format("{} of {} processes did not come within {:g} s: {}; here: {}", missing.size(),
                    members_.size(), options_.init_timeout_s, join_names(missing),
                    join_names(here))});
}

void ControlServer::Impl::round_timeout() {
  const std::vector<std::string> missing = names(rounds_.missing(true, [](int) { return true; }));
  if (missing.empty()) return;
  fail({exit_code(Exit::timed_out),
        fmt::format("did not come to an exchange in time: {}", join_names(missing))});
}

void ControlServer::Impl::heartbeat() {
  at(heartbeat_timer_, deadline_in(options_.heartbeat_s), [this] {
    const auto beat = std::make_shared<const std::string>(encode_frame(FrameType::heartbeat));
    for (Peer* member : members_) {
      if (member == nullptr || !member->here()) continue;
      member->connection->send(beat);
      if (++member->silent > options_.silent_heartbeats)
        lose(*member, member->hello->gone() + " (silent)");
    }
    heartbeat();
  });
}

void ControlServer::Impl::broadcast(std::string bytes) {
  const auto shared = std::make_shared<const std::string>(std::move(bytes));
  for (int process = 0; process < options_.self.processes; ++process) send_to(process, shared);
}

void ControlServer::Impl::send_to(int process, const std::shared_ptr<const std::string>& bytes) {
  const Peer* const member = members_[static_cast<std::size_t>(process)];
  if (member != nullptr && member->here()) member->connection->send(bytes);
}

std::vector<std::string> ControlServer::Impl::names(const std::vector<int>& processes) const {
  std::vector<std::string> result;
  for (const int process : processes)
    result.push_back(members_[static_cast<std::size_t>(process)]->hello->name());
  return result;
}

void ControlServer::Impl::count(int change) {
  const std::lock_guard lock(mutex_);
  here_ += change;
  changed_.notify_all();
}

ControlServer::ControlServer(HubOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
ControlServer::~ControlServer() = default;
int ControlServer::port() const { return impl_->port(); }
int ControlServer::attach() { return impl_->attach(); }
void ControlServer::wait_all_came(double limit_s) { impl_->wait_all_came(limit_s); }
void ControlServer::wait_all_left(double limit_s) { impl_->wait_all_left(limit_s); }

}  // namespace ccl_tests
