// Takes connections for the control server, and closes those that do not prove that they belong to
// the job: after a time, or if they are too many. Only for .cpp files: includes Asio.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/bootstrap/control_connection.hpp"
#include "src/core/deadline.hpp"

namespace ccl_tests {

// The limits of connections that have not yet proved that they belong to the job.
struct UnverifiedLimits {
  double limit_s = 10;     // so long each may take
  std::size_t most = 128;  // at least 1; of more than these, the oldest are closed at once
};

// Returns the limits of a job all of whose processes may come at the same moment.
inline UnverifiedLimits unverified_beside(int processes) {
  return {10, 128 + static_cast<std::size_t>(processes)};
}

// One connection to the server.
struct Peer {
  bool here() const { return connection->open() && !left; }

  std::shared_ptr<ControlConnection> connection;
  std::string address;
  TimePoint verified_until;          // when it must have said who it is
  std::optional<Hello> hello;        // of a member
  bool left = false;                 // said goodbye, or is lost
  bool reported = false;             // all that it has to say about a failure, or has left
  int silent = 0;                    // heartbeats since the last sign of life
  std::vector<RankStatus> statuses;  // what its ranks did then
};

// The server's answers to those who have the job's key.
struct AcceptorCallbacks {
  std::function<void(Peer&, const Hello&)> on_hello;
  std::function<void(Peer&, const Frame&)> on_frame;  // later ones; may throw Error
  std::function<void(Peer&, const std::string& why)> on_nonsense;
  std::function<void(Peer&)> on_close;
};

// Used on the thread of its io_context only. Owns all peers, gone ones too, but no strangers.
class Acceptor {
 public:
  Acceptor(asio::io_context& io, asio::ip::tcp::acceptor acceptor, UnverifiedLimits limits,
           std::string key, std::function<void(std::string_view)> log, AcceptorCallbacks callbacks);

  int port() const { return port_; }
  void add(ControlConnection::Socket socket, std::string address);

  // Takes no more connections, and closes those that have not said who they are.
  void stop_listening();

  // Takes no more connections, says goodbye to all who are there and lets strangers go. Returns
  // whether something is left to be written.
  bool close();

 private:
  void accept();
  void watch();
  void on_frame(Peer& peer, const Frame& frame);
  void drop(Peer& peer, const std::string& why);

  asio::io_context& io_;
  asio::ip::tcp::acceptor acceptor_;
  int port_;
  asio::steady_timer pause_;
  asio::steady_timer watch_timer_;  // runs only while there is somebody to watch
  bool watching_ = false;
  UnverifiedLimits limits_;
  std::deque<Peer*> unverified_;  // who have not said who they are, the oldest first
  std::string key_;
  std::function<void(std::string_view)> log_;
  AcceptorCallbacks callbacks_;
  std::unordered_map<Peer*, std::unique_ptr<Peer>> peers_;
  std::set<std::string> logged_;
  bool listening_ = true;
};

}  // namespace ccl_tests
