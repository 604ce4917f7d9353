#include "src/bootstrap/control_connection.hpp"

#include <fmt/format.h>

#include <asio/buffer.hpp>
#include <asio/write.hpp>
#include <cstring>
#include <string_view>

#include "src/core/interfaces.hpp"

namespace ccl_tests {
namespace {

// Many small frames fit, and thousands of connections need little memory.
constexpr std::size_t usual_read = 2048;

}  // namespace

ControlConnection::ControlConnection(Socket socket) : socket_(std::move(socket)) {
  std::error_code ignored;  // a socket that is gone fails at its first read
  socket_.non_blocking(true, ignored);
}

std::string ControlConnection::local_address() const {
  std::error_code gone;
  const Socket::endpoint_type mine = socket_.local_endpoint(gone),
                              theirs = socket_.remote_endpoint(gone);
  const std::string address = gone ? std::string() : numeric_address(mine.data());
  return address == numeric_address(theirs.data()) ? std::string() : address;
}

void ControlConnection::start(OnFrame on_frame, OnClose on_close) {
  on_frame_ = std::move(on_frame);
  on_close_ = std::move(on_close);
  in_.resize(usual_read);
  send(std::string(control_magic));
  read();
}

void ControlConnection::read() {
  socket_.async_read_some(asio::buffer(in_.data() + read_, in_.size() - read_),
                          [self = shared_from_this()](std::error_code error, std::size_t bytes) {
                            if (self->closed_) return;
                            if (error) return self->lost(error.message());
                            self->read_ += bytes;
                            self->take_frames();
                            if (!self->closed_) self->read();
                          });
}

bool ControlConnection::take_magic() {
  const std::string_view came(in_.data(), std::min(read_, control_magic.size()));
  if (!control_magic.starts_with(came)) {
    lost("it does not speak this protocol");
    return false;
  }
  greeted_ = came.size() == control_magic.size();
  return greeted_;
}

// Hands on every whole frame of in_, and makes room for the rest of the next.
void ControlConnection::take_frames() {
  std::size_t taken = greeted_ ? 0 : control_magic.size();
  if (!greeted_ && !take_magic()) return;
  std::size_t wanted = usual_read;
  while (read_ - taken >= frame_header_bytes) {
    std::uint32_t length = 0;
    std::memcpy(&length, in_.data() + taken, sizeof(length));
    if (length > limit_) return lost(fmt::format("it sent a frame of {} bytes", length));
    const std::size_t size = frame_header_bytes + length;
    if (read_ - taken < size) {
      wanted = std::max(wanted, size);
      break;
    }
    const char* const header = in_.data() + taken;
    on_frame_({static_cast<FrameType>(header[sizeof(length)]),
               std::string_view(header + frame_header_bytes, length)});
    if (closed_) return;
    taken += size;
  }
  read_ -= taken;
  std::memmove(in_.data(), in_.data() + taken, read_);
  if (in_.size() != wanted) {
    in_.resize(wanted);
    if (wanted == usual_read) in_.shrink_to_fit();
  }
}

void ControlConnection::send(std::shared_ptr<const std::string> bytes) {
  if (closed_ || closing_) return;
  std::size_t written = 0;
  if (out_.empty()) {
    std::error_code later;  // would_block, or an error that write_rest meets again
    written = socket_.write_some(asio::buffer(*bytes), later);
    if (written == bytes->size()) return;
  }
  out_.push_back({std::move(bytes), written});
  if (out_.size() == 1) write_rest();
}

void ControlConnection::write_rest() {
  const Unsent& next = out_.front();
  asio::async_write(socket_, asio::buffer(*next.bytes) + next.written,
                    [self = shared_from_this()](std::error_code error, std::size_t) {
                      if (self->closed_) return;
                      // The reader reports: bytes that the peer sent before it left are still to be
                      // read.
                      if (error) return self->out_.clear();
                      self->out_.pop_front();
                      if (!self->out_.empty()) return self->write_rest();
                      if (self->closing_) self->close();
                    });
}

void ControlConnection::lost(const std::string& why) {
  close();
  on_close_(why);
}

void ControlConnection::close() {
  closed_ = true;
  std::error_code ignored;
  socket_.close(ignored);
}

void ControlConnection::close_after_writes() {
  closing_ = true;
  if (out_.empty()) close();
}

}  // namespace ccl_tests
