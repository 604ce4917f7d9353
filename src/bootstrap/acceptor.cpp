#include "src/bootstrap/acceptor.hpp"

#include <fmt/format.h>

#include <asio/post.hpp>
#include <utility>

#include "src/bootstrap/job_key.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {

UnverifiedConnections::Place UnverifiedConnections::add(Close close) {
  const Place place =
      entries_.insert(entries_.end(), {deadline_in(limits_.limit_s), std::move(close)});
  watch();
  if (entries_.size() > limits_.most) close_oldest("too many connections say nothing");
  return place;
}

bool UnverifiedConnections::close_oldest(const std::string& why) {
  if (entries_.empty()) return false;
  const Close close = std::move(entries_.front().close);
  entries_.pop_front();
  close(why);
  return true;
}

void UnverifiedConnections::watch() {
  if (watching_ || entries_.empty()) return;
  watching_ = true;
  timer_.expires_at(entries_.front().until);
  timer_.async_wait([this](std::error_code error) {
    if (error) return;
    watching_ = false;
    const auto now = std::chrono::steady_clock::now();
    while (!entries_.empty() && entries_.front().until <= now) {
      close_oldest(fmt::format("nothing complete came within {:g} s", limits_.limit_s));
    }
    watch();
  });
}

Acceptor::Acceptor(asio::io_context& io, asio::ip::tcp::acceptor acceptor, UnverifiedLimits limits,
                   std::string key, std::function<void(std::string_view)> log,
                   AcceptorCallbacks callbacks)
    : io_(io),
      acceptor_(std::move(acceptor)),
      port_(acceptor_.local_endpoint().port()),
      pause_(io),
      unverified_(io, limits),
      key_(std::move(key)),
      log_(std::move(log)),
      callbacks_(std::move(callbacks)) {
  accept();
}

void Acceptor::accept() {
  acceptor_.async_accept([this](std::error_code error, asio::ip::tcp::socket socket) {
    if (!listening_) return;
    if (error) {  // out of descriptors
      unverified_.close_oldest("its descriptor is needed");
      pause_.expires_after(std::chrono::milliseconds(20));
      return pause_.async_wait([this](std::error_code e) {
        if (!e && listening_) accept();
      });
    }
    std::error_code gone, ignored;
    const auto remote = socket.remote_endpoint(gone);
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    if (!gone) add(std::move(socket), remote.address().to_string());
    accept();
  });
}

void Acceptor::add(ControlConnection::Socket socket, std::string address) {
  auto peer = std::make_unique<Peer>(std::move(socket), std::move(address));
  Peer& p = *peer;
  peers_.emplace(&p, std::move(peer));
  p.connection->start([this, &p](const Frame& frame) { on_frame(p, frame); },
                      [this, &p](const std::string& why) { on_close(p, why); });
  p.unverified = unverified_.add([this, &p](const std::string& why) {
    p.unverified.reset();
    stranger(p, why);
  });
}

void Acceptor::on_frame(Peer& peer, const Frame& frame) {
  peer.silent = 0;
  try {
    if (peer.hello) return callbacks_.on_frame(peer, frame);
    if (frame.type != FrameType::hello) throw Error("it did not say who it is");
    const Hello hello = decode_hello(frame.payload);
    if (!are_equal(hello.proof, job_proof(key_, Side::process, hello.nonce))) {
      peer.connection->send(encode_frame(FrameType::refused));
      throw Error("it belongs to another job");
    }
    if (peer.unverified) unverified_.passed(*std::exchange(peer.unverified, std::nullopt));
    callbacks_.on_hello(peer, hello);
  } catch (const Error& error) {
    if (peer.hello) return callbacks_.on_nonsense(peer, error.what());
    stranger(peer, error.what());
  }
}

void Acceptor::on_close(Peer& peer, const std::string& why) {
  if (peer.hello) return callbacks_.on_close(peer);
  stranger(peer, why);
}

// Whoever is not of this job: named once, then forgotten.
void Acceptor::stranger(Peer& peer, const std::string& why) {
  constexpr std::size_t most = 100;
  if (logged_.size() < most && logged_.insert(peer.address).second) {
    log_(fmt::format("a stranger at {} is ignored: {}", peer.address, why));
  }
  if (peer.unverified) unverified_.passed(*std::exchange(peer.unverified, std::nullopt));
  peer.connection->close();
  asio::post(io_, [this, &peer] { peers_.erase(&peer); });
}

void Acceptor::stop_listening() {
  listening_ = false;
  std::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  unverified_.close_all("all processes have come");
}

bool Acceptor::close() {
  if (listening_) stop_listening();
  bool writing = false;
  for (const auto& [key, peer] : peers_) {
    if (peer->hello && peer->here()) peer->connection->send(encode_frame(FrameType::goodbye));
    peer->connection->close_after_writes();
    writing |= peer->connection->open();
  }
  return writing;
}

}  // namespace ccl_tests
