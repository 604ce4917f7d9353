#include "src/bootstrap/acceptor.hpp"

#include <fmt/format.h>

#include <asio/post.hpp>
#include <utility>

#include "src/bootstrap/job_key.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {

Acceptor::Acceptor(asio::io_context& io, asio::ip::tcp::acceptor acceptor, UnverifiedLimits limits,
                   std::string key, std::function<void(std::string_view)> log,
                   AcceptorCallbacks callbacks)
    : io_(io),
      acceptor_(std::move(acceptor)),
      port_(acceptor_.local_endpoint().port()),
      pause_(io),
      watch_timer_(io),
      limits_(limits),
      key_(std::move(key)),
      log_(std::move(log)),
      callbacks_(std::move(callbacks)) {
  accept();
}

void Acceptor::accept() {
  acceptor_.async_accept([this](std::error_code error, asio::ip::tcp::socket socket) {
    if (!listening_) return;
    if (error) {  // out of descriptors
      if (!unverified_.empty()) drop(*unverified_.front(), "its descriptor is needed");
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
  auto peer = std::make_unique<Peer>();
  Peer& p = *peer;
  peers_.emplace(&p, std::move(peer));
  p.connection = std::make_shared<ControlConnection>(std::move(socket));
  p.address = std::move(address);
  p.verified_until = deadline_in(limits_.limit_s);
  p.connection->start([this, &p](const Frame& frame) { on_frame(p, frame); },
                      [this, &p](const std::string& why) {
                        if (p.hello) return callbacks_.on_close(p);
                        drop(p, why);
                      });
  unverified_.push_back(&p);
  watch();
  if (unverified_.size() > limits_.most)
    drop(*unverified_.front(), "too many connections say nothing");
}

// Drops each unverified connection when its time is over.
void Acceptor::watch() {
  if (watching_ || unverified_.empty()) return;
  watching_ = true;
  watch_timer_.expires_at(unverified_.front()->verified_until);
  watch_timer_.async_wait([this](std::error_code error) {
    if (error) return;
    watching_ = false;
    const auto now = std::chrono::steady_clock::now();
    while (!unverified_.empty() && unverified_.front()->verified_until <= now)
      drop(*unverified_.front(),
           fmt::format("nothing complete came within {:g} s", limits_.limit_s));
    watch();
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
    std::erase(unverified_, &peer);
    callbacks_.on_hello(peer, hello);
  } catch (const Error& error) {
    if (peer.hello) return callbacks_.on_nonsense(peer, error.what());
    drop(peer, error.what());
  }
}

// Names whoever is not of this job once, then forgets it.
void Acceptor::drop(Peer& peer, const std::string& why) {
  constexpr std::size_t most = 100;
  if (logged_.size() < most && logged_.insert(peer.address).second)
    log_(fmt::format("a stranger at {} is ignored: {}", peer.address, why));
  std::erase(unverified_, &peer);
  peer.connection->close();
  asio::post(io_, [this, &peer] { peers_.erase(&peer); });
}

void Acceptor::stop_listening() {
  listening_ = false;
  std::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  while (!unverified_.empty()) drop(*unverified_.front(), "all processes have come");
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
