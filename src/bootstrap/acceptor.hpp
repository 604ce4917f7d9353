// Takes connections for the control server, and closes those that do not prove that they belong to
// the job. Only for .cpp files: includes Asio.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/bootstrap/control_connection.hpp"
#include "src/bootstrap/rank_status.hpp"
#include "src/bootstrap/unverified.hpp"

namespace ccl_tests {

// One connection to the server.
struct Peer {
  Peer(ControlConnection::Socket socket, std::string from)
      : connection(std::make_shared<ControlConnection>(std::move(socket))),
        address(std::move(from)) {}
  bool here() const { return connection->open() && !left; }

  std::shared_ptr<ControlConnection> connection;
  std::string address;
  std::optional<UnverifiedConnections::Place> unverified;  // until it has said who it is
  std::optional<Hello> hello;                              // of a member
  bool left = false;                                       // said goodbye, or is lost
  bool reported = false;             // all that it has to say about a failure, or has left
  int silent = 0;                    // heartbeats since the last sign of life
  std::vector<RankStatus> statuses;  // what its ranks did then
};

// What the server does about those who have the job's key.
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

  // Takes no more connections, says goodbye to all who are there and lets strangers go. False when
  // nothing is left to be written.
  bool close();

 private:
  void accept();
  void on_frame(Peer& peer, const Frame& frame);
  void on_close(Peer& peer, const std::string& why);
  void stranger(Peer& peer, const std::string& why);

  asio::io_context& io_;
  asio::ip::tcp::acceptor acceptor_;
  int port_;
  asio::steady_timer pause_;
  UnverifiedConnections unverified_;
  std::string key_;
  std::function<void(std::string_view)> log_;
  AcceptorCallbacks callbacks_;
  std::unordered_map<Peer*, std::unique_ptr<Peer>> peers_;
  std::set<std::string> logged_;
  bool listening_ = true;
};

}  // namespace ccl_tests
