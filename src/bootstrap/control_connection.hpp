// One framed connection of the control plane, at either end. Only for .cpp files: includes Asio.
#pragma once

#include <array>
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
  using OnFrame = std::function<void(Frame&)>;
  using OnClose = std::function<void(const std::string& why)>;  // the peer's doing; once

  explicit ControlConnection(Socket socket) : socket_(std::move(socket)) {}

  // The callbacks must live as long as the connection is open. Sends the magic, expects the peer's.
  void start(OnFrame on_frame, OnClose on_close);
  void trust() {
    limit_ = frame_limit;
  }  // frames beyond first_frame_limit are accepted from now on
  void send(std::shared_ptr<const std::string> bytes);
  void send(std::string bytes) { send(std::make_shared<const std::string>(std::move(bytes))); }
  void close();
  void close_after_writes();
  bool open() const { return socket_.is_open(); }

 private:
  void read_magic();
  void read_header();
  void read_payload();
  void write();
  void lost(const std::string& why);

  Socket socket_;
  OnFrame on_frame_;
  OnClose on_close_;
  std::size_t limit_ = first_frame_limit;
  std::array<char, 8> magic_{};
  std::array<char, frame_header_bytes> header_{};
  Frame frame_;
  std::deque<std::shared_ptr<const std::string>> out_;
  bool closing_ = false, closed_ = false;
};

}  // namespace ccl_tests
