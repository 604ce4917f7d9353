#include "src/bootstrap/control_connection.hpp"

#include <fmt/format.h>

#include <asio/buffer.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <cstring>

namespace ccl_tests {

void ControlConnection::start(OnFrame on_frame, OnClose on_close) {
  static_assert(control_magic.size() == sizeof(magic_));
  on_frame_ = std::move(on_frame);
  on_close_ = std::move(on_close);
  send(std::string(control_magic));
  read_magic();
}

void ControlConnection::read_magic() {
  asio::async_read(
      socket_, asio::buffer(magic_),
      [self = shared_from_this()](std::error_code error, std::size_t) {
        if (self->closed_) return;
        if (error) return self->lost(error.message());
        if (std::string_view(self->magic_.data(), self->magic_.size()) != control_magic) {
          return self->lost("it does not speak this protocol");
        }
        self->read_header();
      });
}

void ControlConnection::read_header() {
  asio::async_read(socket_, asio::buffer(header_),
                   [self = shared_from_this()](std::error_code error, std::size_t) {
                     if (self->closed_) return;
                     if (error) return self->lost(error.message());
                     self->read_payload();
                   });
}

void ControlConnection::read_payload() {
  std::uint32_t length = 0;
  std::memcpy(&length, header_.data(), sizeof(length));
  if (length > limit_) return lost(fmt::format("it sent a frame of {} bytes", length));
  frame_.type = static_cast<FrameType>(header_[sizeof(length)]);
  frame_.payload.assign(length, '\0');
  asio::async_read(socket_, asio::buffer(frame_.payload),
                   [self = shared_from_this()](std::error_code error, std::size_t) {
                     if (self->closed_) return;
                     if (error) return self->lost(error.message());
                     self->on_frame_(self->frame_);
                     if (!self->closed_) self->read_header();
                   });
}

void ControlConnection::send(std::shared_ptr<const std::string> bytes) {
  if (closed_ || closing_) return;
  out_.push_back(std::move(bytes));
  if (out_.size() == 1) write();
}

void ControlConnection::write() {
  asio::async_write(socket_, asio::buffer(*out_.front()),
                    [self = shared_from_this()](std::error_code error, std::size_t) {
                      if (self->closed_) return;
                      // What the peer sent before it left is still to be read: the reader reports.
                      if (error) return self->out_.clear();
                      self->out_.pop_front();
                      if (!self->out_.empty()) return self->write();
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
