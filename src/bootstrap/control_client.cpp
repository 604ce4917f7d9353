#include "src/bootstrap/control_client.hpp"

#include <fmt/format.h>

#include <asio/post.hpp>

#include "src/bootstrap/job_key.hpp"
#include "src/bootstrap/net.hpp"
#include "src/core/thread.hpp"

namespace ccl_tests {
namespace {

constexpr double answer_slack_s = 10;  // the server knows who is missing: it is to answer first
constexpr double farewell_s = 2;

std::string sign_of_life(const std::vector<RankStatus>& statuses) {
  return encode_frame(FrameType::heartbeat, statuses.empty() ? std::string() : to_text(statuses));
}

}  // namespace

ControlClient::ControlClient(LinkOptions options, const std::string& host, int port,
                             TimePoint deadline)
    : ControlClient(std::move(options)) {
  try {
    const TimePoint connected = std::min(deadline, deadline_in(10));
    begin(connect_once(io_, resolve(host, port, deadline), connected), deadline);
  } catch (const std::system_error& error) {
    throw NoServer(error.what(), error.code());
  }
}

ControlClient::ControlClient(LinkOptions options, int descriptor, TimePoint deadline)
    : ControlClient(std::move(options)) {
  using asio::generic::stream_protocol;
  begin(ControlConnection::Socket(io_, stream_protocol(AF_UNIX, 0), descriptor), deadline);
}

void ControlClient::begin(ControlConnection::Socket socket, TimePoint deadline) {
  connection_ = std::make_shared<ControlConnection>(std::move(socket));
  if (const std::string mine = connection_->local_address(); !mine.empty())
    local_addresses_ = {mine};
  connection_->start([this](const Frame& frame) { take(frame); },
                     [this](const std::string& why) {
                       close(why, [this] { return lost(Exit::failed, server_->gone()); });
                     });
  options_.self.nonce = random_hex(32);
  options_.self.proof = job_proof(options_.key, Side::process, options_.self.nonce);
  connection_->send(encode(options_.self));
  heartbeat();
  io_.restart();
  work_.emplace(io_.get_executor());
  thread_ = start_thread([this] { io_.run(); });

  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] { return server_ || over(); });
  if (failure_) throw_failure(*failure_);
  if (is_elsewhere_) throw OtherSettings(closed_why_);
  if (!server_) throw NoServer(closed_ ? closed_why_ : "it does not answer");
}

ControlClient::~ControlClient() {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  leaving_ = true;
  if (!closed_ && server_) {
    post_send(encode_frame(FrameType::goodbye));
    changed_.wait_for(lock, seconds_to_duration(farewell_s),
                      [this] { return closed_ || server_left_; });
  }
  lock.unlock();
  io_.stop();
  thread_.join();
}

// Sends, with mutex_ held. What is sent before the other thread wakes up leaves in one write.
void ControlClient::post_send(const std::string& bytes) {
  const bool first = unsent_.empty();
  unsent_ += bytes;
  if (!first) return;
  asio::post(io_, [this] {
    std::unique_lock lock(mutex_);
    std::string all = std::exchange(unsent_, {});
    lock.unlock();
    connection_->send(std::move(all));
  });
}

void ControlClient::wait_welcome(double limit_s) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, seconds_to_duration(limit_s + answer_slack_s),
                        [this] { return welcomed_ || over(); })) {
    return throw_if_over();
  }
  throw Timeout(fmt::format("{} does not say who is missing", server_->name()));
}

void ControlClient::report_failures() {
  const std::lock_guard lock(mutex_);
  throw_if_over();
  reporting_ = true;
}

void ControlClient::throw_if_over() const {
  if (failure_) throw_failure(*failure_);
  if (over()) throw Error(server_->name() + " has left while others wait for it");
}

std::vector<std::string> ControlClient::exchange(ExchangeKind kind, const Team& team,
                                                 std::string_view bytes, double limit_s) {
  if (bytes.size() > contribution_limit) {
    throw Error(fmt::format("{} bytes are too many for an exchange", bytes.size()));
  }
  std::unique_lock lock(mutex_);
  throw_if_over();
  Exchanges& mine = exchanges_[team.name];
  const std::uint64_t round = mine.next_round++;
  mine.result.reset();
  const bool is_root = options_.self.process == team.root;
  const Team named{team.name, round == 0 ? team.processes : std::vector<int>{}, team.root};
  if (kind == ExchangeKind::broadcast && !is_root) bytes = {};
  post_send(encode(Contribution{round, limit_s, std::string(bytes), named, kind}));
  if (kind == ExchangeKind::gather && !is_root) return {};
  const double patience = limit_s > 0 ? limit_s + answer_slack_s : 0;
  ++waiting_;
  changed_.wait_until(lock, deadline_of_limit(patience), [&] { return mine.result || over(); });
  --waiting_;
  if (mine.result) return std::move(mine.result->bytes);
  throw_if_over();
  throw Timeout(fmt::format("no answer from {} within {:g} s", server_->name(), patience));
}

void ControlClient::abort(const Failure& why) noexcept try {
  const std::string sign = sign_of_life(statuses());
  std::unique_lock lock(mutex_);
  if (over()) return;
  failure_ = why;
  aborted_ = true;
  changed_.notify_all();
  post_send(sign + encode(*failure_));
  // Waits until the server has told the others: the caller may end this process next.
  changed_.wait_for(lock, seconds_to_duration(farewell_s),
                    [this] { return abort_heard_ || closed_; });
} catch (const std::exception&) {  // no memory for it: the end of this process will tell
}

void ControlClient::report_status(std::function<std::vector<RankStatus>()> statuses) {
  const std::lock_guard lock(statuses_mutex_);
  statuses_ = std::move(statuses);
}

std::vector<RankStatus> ControlClient::statuses() {
  const std::lock_guard lock(statuses_mutex_);
  return statuses_ ? statuses_() : std::vector<RankStatus>();
}

Failure ControlClient::wait_failure(double limit_s) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, seconds_to_duration(limit_s), [this] { return failure_.has_value(); });
  constexpr int heartbeats = 3;  // missing: at least two whole intervals have passed
  if (failure_ || !server_ || over() || silent_ < heartbeats) return failure_.value_or(Failure{});
  return silence();
}

bool ControlClient::wait_process_0_gone(double limit_s) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, seconds_to_duration(limit_s), [this] { return closed_ || server_left_; });
  return closed_ && !server_left_;
}

void ControlClient::end_report() {
  const std::lock_guard lock(mutex_);
  if (!closed_ && server_) post_send(encode_frame(FrameType::reported));
}

Failure ControlClient::lost(Exit code, const std::string& message) const {
  return {exit_code(code), message, server_->rank_numbers(), {}, {server_->host}};
}

Failure ControlClient::silence() const {
  return lost(Exit::timed_out, fmt::format("for {:g} s there has been no sign of life from {}",
                                           (silent_ - 1) * options_.heartbeat_s, server_->name()));
}

void ControlClient::take(const Frame& frame) {
  try {
    on_frame(frame);
  } catch (const Error& error) {
    connection_->close();
    close(error.what(), [&] {
      return Failure{exit_code(Exit::failed), server_->name() + " sent nonsense: " + error.what()};
    });
  }
}

// Nothing is believed before the server has proved that it belongs to this job.
void ControlClient::on_first_frame(const Frame& frame) {
  if (frame.type == FrameType::refused)
    throw Error("another job listens there, or CCL_JOB_SECRET differs");
  if (frame.type != FrameType::accepted && frame.type != FrameType::elsewhere)
    throw Error("it did not say who it is");
  Hello server = decode_hello(frame.payload);
  if (!are_equal(server.proof, job_proof(options_.key, Side::server, options_.self.nonce)))
    throw Error("it did not prove that it belongs to this job");
  if (frame.type == FrameType::elsewhere) {
    const std::lock_guard lock(mutex_);
    is_elsewhere_ = true;
    throw Error("the settings of " + server.name() + " differ");
  }
  connection_->trust();
  const std::lock_guard lock(mutex_);
  server_ = std::move(server);
  changed_.notify_all();
}

void ControlClient::on_frame(const Frame& frame) {
  silent_ = 0;
  if (!server_) return on_first_frame(frame);
  if (frame.type == FrameType::failure) {
    const Failure failure = decode_failure(frame.payload);
    std::unique_lock lock(mutex_);
    abort_heard_ = aborted_;
    if (aborted_) failure_ = failure;
    changed_.notify_all();
    return fail(failure, std::move(lock));
  }
  const std::lock_guard lock(mutex_);
  welcomed_ = welcomed_ || frame.type == FrameType::welcome;
  server_left_ = server_left_ || frame.type == FrameType::goodbye;
  if (frame.type == FrameType::round) {
    Round round = decode_round(frame.payload);
    exchanges_[round.team].result = std::move(round);
  }
  changed_.notify_all();
}

void ControlClient::close(const std::string& why, const std::function<Failure()>& failure) {
  std::unique_lock lock(mutex_);
  closed_ = true;
  closed_why_ = why;
  changed_.notify_all();
  if (server_ && !leaving_ && !server_left_) fail(failure(), std::move(lock));
}

void ControlClient::fail(const Failure& failure, std::unique_lock<std::mutex> lock) {
  if (failure_) return;
  failure_ = failure;
  const bool report = reporting_ && !leaving_ && options_.on_failure;
  changed_.notify_all();
  lock.unlock();
  if (report) options_.on_failure(failure);
}

void ControlClient::heartbeat() {
  heartbeat_timer_.expires_after(seconds_to_duration(options_.heartbeat_s));
  heartbeat_timer_.async_wait([this](std::error_code error) {
    if (error || !connection_->open()) return;
    const std::vector<RankStatus> now = statuses();
    connection_->send(sign_of_life(now));
    const bool somebody_waits = waiting_ > 0 || any_in_a_call(now);
    if (++silent_ > (somebody_waits ? options_.stopped_heartbeats : options_.silent_heartbeats)) {
      connection_->close();
      return close("it does not answer", [this] { return silence(); });
    }
    heartbeat();
  });
}

}  // namespace ccl_tests
