// Takes connections for the control server, and closes those that do not prove that they belong to the job: after a
// time, or if they are too many. Only for .cpp files: includes Asio.
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/bootstrap/control_connection.hpp"
#include "src/bootstrap/deadline.hpp"
#include "src/bootstrap/rank_status.hpp"

namespace ccl_tests {

// What connections may do that have not yet proved that they belong to the job.
struct UnverifiedLimits {
  double limit_s = 10;     // so long each may take
  std::size_t most = 128;  // at least 1; of more than these, the oldest are closed at once
};

// For a job all of whose processes may come at the same moment.
inline UnverifiedLimits unverified_beside(int processes) {
  return {10, 128 + static_cast<std::size_t>(processes)};
}

// Used on the thread of its io_context only.
class UnverifiedConnections {
 public:
  using Close = std::function<void(const std::string& why)>;
  struct Entry {
    TimePoint until;
    Close close;
  };
  using Place = std::list<Entry>::iterator;

  UnverifiedConnections(asio::io_context& io, UnverifiedLimits limits)
      : timer_(io), limits_(limits) {}

  // Calls `close` when the connection's time is over. Its place is invalid by then.
  Place add(Close close);
  void passed(Place place) { entries_.erase(place); }

  // For want of descriptors, say. False when there is none.
  bool close_oldest(const std::string& why);
  void close_all(const std::string& why) {
    while (close_oldest(why)) {
    }
  }

 private:
  void watch();

  asio::steady_timer timer_;  // runs only while there is somebody to watch
  UnverifiedLimits limits_;
  std::list<Entry> entries_;  // the oldest first
  bool watching_ = false;
};

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
