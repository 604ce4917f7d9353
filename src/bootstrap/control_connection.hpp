// One framed connection of the control plane, at either end. Only for .cpp files: includes Asio.
#pragma once

#include <asio/generic/stream_protocol.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "src/bootstrap/control_frame.hpp"

namespace ccl_tests {

// Used on the thread of its io_context only. After close() no callback comes any more.
class ControlConnection : public std::enable_shared_from_this<ControlConnection> {
 public:
  using Socket = asio::generic::stream_protocol::socket;
  using OnFrame = std::function<void(const Frame&)>;
  using OnClose = std::function<void(const std::string& why)>;  // the peer's doing; once

  explicit ControlConnection(Socket socket);

  // The callbacks must live as long as the connection is open. Sends the magic, expects the peer's.
  void start(OnFrame on_frame, OnClose on_close);
  // Accepts frames longer than first_frame_limit from now on.
  void trust() { limit_ = frame_limit; }
  // Writes at once what the socket takes; the rest is kept, and nothing of it copied.
  void send(std::shared_ptr<const std::string> bytes);
  void send(std::string bytes) { send(std::make_shared<const std::string>(std::move(bytes))); }
  void close();
  void close_after_writes();
  bool open() const { return socket_.is_open(); }
  // Returns this end's address as a number (numeric_address). Empty if the connection does not leave
  // this host, whose own address is then at both ends.
  std::string local_address() const;

 private:
  struct Unsent {
    std::shared_ptr<const std::string> bytes;
    std::size_t written = 0;
  };

  void read();
  void take_frames();
  bool take_magic();
  void write_rest();
  void lost(const std::string& why);

  Socket socket_;
  OnFrame on_frame_;
  OnClose on_close_;
  std::size_t limit_ = first_frame_limit;
  std::string in_;        // as long as the next read may fill
  std::size_t read_ = 0;  // bytes of in_ that came and are not taken
  bool greeted_ = false;  // the peer's magic came
  std::deque<Unsent> out_;
  bool closing_ = false, closed_ = false;
};

}  // namespace ccl_tests
