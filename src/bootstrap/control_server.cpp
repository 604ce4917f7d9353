#include "src/bootstrap/control_server.hpp"

#include <fmt/format.h>

#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>

#include "src/bootstrap/job_key.hpp"
#include "src/core/error.hpp"
#include "src/core/thread.hpp"

namespace ccl_tests {

ControlServer::ControlServer(ControlServerOptions options)
    : attendance(options.self.processes),
      options_(std::move(options)),
      acceptor_(io_, listen_on(io_, options_.listen), options_.strangers, options_.key,
                options_.log, callbacks()),
      members_(options_.self),
      other_jobs_(options_.self, options_.may_be_shared, options_.patience_s),
      exchanges_(options_.self.processes) {
  at(init_timer_, deadline_in(options_.init_timeout_s), [this] {
    if (welcomed_) return;
    if (!other_jobs_.seen.empty()) return fail_disagreement();
    fail({exit_code(Exit::timed_out), members_.missing(options_.init_timeout_s)});
  });
  heartbeat();
  thread_ = start_thread([this] { io_.run(); });
}

ControlServer::~ControlServer() {
  asio::post(io_, [this] {
    heartbeat_timer_.cancel();
    round_timer_.cancel();
    at(init_timer_, deadline_in(1), [this] { io_.stop(); });
    if (!acceptor_.close()) io_.stop();
  });
  thread_.join();
}

int ControlServer::attach() {
  return on_own_thread([this] {
    asio::local::stream_protocol::socket mine(io_), theirs(io_);
    asio::local::connect_pair(mine, theirs);
    const int fd = theirs.release();
    acceptor_.add(ControlConnection::Socket(std::move(mine)), "this process");
    return fd;
  });
}

AcceptorCallbacks ControlServer::callbacks() {
  return {[this](Peer& peer, const Hello& hello) { admit(peer, hello); },
          [this](Peer& peer, const Frame& frame) { on_frame(peer, frame); },
          [this](Peer& peer, const std::string& why) {
            lose(peer, {exit_code(Exit::failed),
                        fmt::format("{} sent nonsense: {}", peer.hello->name(), why)});
          },
          [this](Peer& peer) {
            if (!peer.left) lose(peer, gone(peer, ""));
          }};
}

std::string ControlServer::answer(const Hello& hello, FrameType type) const {
  Hello self = options_.self;
  self.proof = job_proof(options_.key, Side::server, hello.nonce);
  return encode(self, type);
}

// Tells it who is here. It looks for its own process 0.
void ControlServer::send_elsewhere(Peer& peer, const Hello& hello) {
  if (hello.refusal.code == 0 && other_jobs_.is_new(hello))
    options_.log(
        fmt::format("{} is not let in: {}; it is of another job on this MASTER_PORT, or "
                    "its flags are wrong",
                    hello.name(), difference(hello, options_.self)));
  peer.connection->send(answer(hello, FrameType::elsewhere));
  peer.connection->close_after_writes();
}

// Another job's process 0 cannot listen here. Its other processes come here all the same.
void ControlServer::take_refusal(Peer& peer, const Hello& hello) {
  const bool is_own = options_.self.refusal.code != 0;
  const Failure failure = is_own ? options_.self.refused() : hello.refused();
  refuse(peer, hello, failure);
  if (hello.process != 0 || is_own) return fail(failure);
  if (!other_jobs_.rival)
    options_.log(fmt::format("{}: another job on this MASTER_PORT; give each job a port of its own",
                             hello.name()));
  other_jobs_.rival = hello;
}

void ControlServer::admit(Peer& peer, const Hello& hello) {
  if (!failed_ && other_jobs_.include(hello, members_.missing()))
    return send_elsewhere(peer, hello);
  attendance.add_arrival();
  if (failed_) return refuse(peer, hello, *failed_);
  if (hello.refusal.code != 0) return take_refusal(peer, hello);
  const bool agrees = agree_but_for_flags(options_.self, hello);
  const Peer* const member = agrees ? members_.of(hello.process) : nullptr;
  // A process that differs, or is there already, is likely to be of the rival's job.
  if (other_jobs_.rival && (member != nullptr || !agree(options_.self, hello)))
    return refuse(peer, hello, other_jobs_.rival->refused());
  if (agrees) {
    if (member != nullptr) {
      const Failure failure{exit_code(Exit::failed), twice(*member->hello, hello)};
      refuse(peer, hello, failure);
      return fail(failure);
    }
    other_jobs_.seen.erase(hello.process);
    members_.add(hello.process, &peer);
    attendance.add_address(hello.process, peer.connection->local_address());
  } else {
    members_.differing.push_back(&peer);
  }
  peer.hello = hello;
  peer.connection->trust();
  peer.connection->send(answer(hello, FrameType::accepted));
  attendance.enter();
  if (!members_.differing.empty()) return await_all_who_differ();
  if (!members_.complete()) return;
  welcomed_ = true;
  init_timer_.cancel();
  acceptor_.stop_listening();  // whoever is welcome may start another job on this port
  members_.send_to_all(encode_frame(FrameType::welcome), nullptr);
}

// Whom to blame is known if most have come.
void ControlServer::await_all_who_differ() {
  constexpr double patience_s = 2;
  if (members_.admitted() + members_.differing.size() >= members_.all().size())
    return fail_disagreement();
  if (members_.differing.size() == 1)
    at(init_timer_, deadline_in(std::min(patience_s, options_.init_timeout_s)),
       [this] { fail_disagreement(); });
}

void ControlServer::fail_disagreement() {
  if (failed_) return;
  fail({exit_code(Exit::usage), members_.disagreement(other_jobs_.seen)});
}

void ControlServer::refuse(Peer& peer, const Hello& hello, const Failure& failure) {
  peer.connection->send(answer(hello, FrameType::accepted));
  peer.connection->send(encode(failure));
  peer.connection->close_after_writes();
}

void ControlServer::on_frame(Peer& peer, const Frame& frame) {
  if (frame.type == FrameType::heartbeat)
    peer.statuses = statuses_of(frame.payload);
  else if (frame.type == FrameType::contribution)
    contribute(peer, decode_contribution(frame.payload));
  else if (frame.type == FrameType::failure)
    fail(decode_failure(frame.payload), &peer);
  else if (frame.type == FrameType::goodbye)
    goodbye(peer);
  else if (frame.type == FrameType::reported)
    attendance.report(peer);
  else
    throw Error("an unexpected frame");
}

void ControlServer::contribute(Peer& peer, Contribution contribution) {
  if (failed_) return;
  if (!welcomed_) throw Error("an exchange before all have come");
  const ExchangeKind kind = contribution.kind;
  const auto [team, other] = exchanges_.add(peer.hello->process, std::move(contribution));
  if (other) {
    return fail({exit_code(Exit::failed),
                 fmt::format("different calls at once: {} called {}, {} called {}",
                             members_.names({other->process}).front(), name_of(other->kind),
                             peer.hello->name(), name_of(kind))});
  }
  if (team.complete()) return deliver(team);
  watch(team.deadline());
  require_nobody_left();
}

void ControlServer::deliver(TeamExchanges& team) {
  const bool is_gather = team.kind() == ExchangeKind::gather;
  const auto bytes = std::make_shared<const std::string>(encode(team.take()));
  for (const int process : is_gather ? std::vector{team.root()} : team.processes())
    if (members_.of(process)->here()) members_.of(process)->connection->send(bytes);
}

// One timer for all exchanges: it is set again only if `deadline` is earlier than what it is set to.
void ControlServer::watch(TimePoint deadline) {
  if (deadline >= watched_) return;
  watched_ = deadline;
  at(round_timer_, deadline, [this] { round_timeout(); });
}

// An exchange that somebody has left for good will never complete.
void ControlServer::require_nobody_left() {
  if (left_ == 0) return;
  for (const int process : exchanges_.missing()) {
    const Peer& peer = *members_.of(process);
    if (peer.left)
      return fail(
          {exit_code(Exit::failed), peer.hello->name() + " has left while others wait for it"});
  }
}

// The end of what waits for them may be far away: of an exchange that of calls whose length nobody
// knows, of a job's first calls that of its start.
void ControlServer::require_nobody_stopped() {
  const int heartbeats = options_.stopped_heartbeats + 1;
  std::vector<int> missing = exchanges_.missing();
  std::erase_if(missing, [&](int process) { return members_.of(process)->silent < heartbeats; });
  if (!missing.empty()) return fail_late("does not come to an exchange", missing);
  const std::vector<int> awaited = members_.awaited_in_calls(heartbeats);
  if (!awaited.empty()) fail_late("does not come to a call, or out of it", awaited);
}

void ControlServer::fail_late(const char* what, const std::vector<int>& processes) {
  fail({exit_code(Exit::timed_out),
        fmt::format("{}: {}", what, join_names(members_.names(processes))),
        {},
        members_.rank_numbers(processes)});
}

void ControlServer::goodbye(Peer& peer) {
  if (!welcomed_)
    return lose(peer, {exit_code(Exit::failed), peer.hello->name() + " left before all had come"});
  if (peer.left) return;
  ++left_;
  peer.connection->send(encode_frame(FrameType::goodbye));
  attendance.leave(peer);
  require_nobody_left();
}

Failure ControlServer::gone(const Peer& peer, const char* how) const {
  Failure failure{exit_code(Exit::failed), peer.hello->gone() + how};
  // The numbers of a process that was started differently are not those of this job.
  if (agree_but_for_flags(options_.self, *peer.hello)) failure.gone = peer.hello->rank_numbers();
  failure.gone_hosts = {peer.hello->host};
  return failure;
}

void ControlServer::lose(Peer& peer, const Failure& failure) {
  peer.connection->close();
  attendance.leave(peer);
  fail(failure);
}

// Keeps the first failure and sends it to all processes, to the one that reported it last: when that
// one ends, the others know why.
void ControlServer::fail(Failure failure, Peer* origin) {
  if (!failed_) {
    failed_ = std::move(failure);
    give_up_silent(*failed_);
    if (failed_->code == exit_code(Exit::timed_out)) members_.add_statuses(*failed_);
    init_timer_.cancel();
    round_timer_.cancel();
    members_.send_to_all(encode(*failed_), origin);
  }
  if (origin != nullptr) origin->connection->send(encode(*failed_));
}

// Says that the failure may come from those who are silent, and expects no report from them.
void ControlServer::give_up_silent(Failure& failure) {
  constexpr int heartbeats = 3;  // missing: at least two whole intervals have passed
  const std::vector<int> silent = members_.silent(heartbeats);
  if (silent.empty()) return;
  for (const int process : silent) {
    attendance.report(*members_.of(process));
    failure.gone_hosts.push_back(members_.of(process)->hello->host);
  }
  const std::vector<int> ranks = members_.rank_numbers(silent);
  failure.gone.insert(failure.gone.end(), ranks.begin(), ranks.end());
  failure.message +=
      fmt::format("; for {:g} s there has been no sign of life from {}",
                  (heartbeats - 1) * options_.heartbeat_s, join_names(members_.names(silent)));
}

void ControlServer::round_timeout() {
  watched_ = TimePoint::max();
  const std::vector<int> missing = exchanges_.missing(std::chrono::steady_clock::now());
  if (missing.empty()) return watch(exchanges_.deadline());
  fail_late("did not come to an exchange in time", missing);
}

void ControlServer::heartbeat() {
  at(heartbeat_timer_, deadline_in(options_.heartbeat_s), [this] {
    const auto beat = std::make_shared<const std::string>(encode_frame(FrameType::heartbeat));
    for (Peer* member : members_.all()) {
      if (member == nullptr || !member->here()) continue;
      member->connection->send(beat);
      if (++member->silent > options_.silent_heartbeats) lose(*member, gone(*member, " (silent)"));
    }
    require_nobody_stopped();
    heartbeat();
  });
}

}  // namespace ccl_tests
