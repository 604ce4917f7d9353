// Stands in for the store of a torchrun agent: the part of PyTorch's TCPStore protocol that the
// suite's client speaks.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/store_client.hpp"
#include "tests/unit/bootstrap_raw_socket.hpp"

namespace ccl_tests::test {

// One thread for each connection.
class AgentStore {
 public:
  AgentStore() : port_(listener_.port()), acceptor_([this] { accept(); }) {}
  ~AgentStore() {
    over_ = true;
    ::shutdown(listener_.descriptor(), SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : fds_) ::shutdown(fd, SHUT_RDWR);
    }
    for (std::thread& session : sessions_) session.join();
    for (const int fd : fds_) ::close(fd);
  }
  AgentStore(const AgentStore&) = delete;
  AgentStore& operator=(const AgentStore&) = delete;
  int port() const { return port_; }

 private:
  void accept() {
    while (!over_) {
      const int fd = ::accept(listener_.descriptor(), nullptr, nullptr);
      if (fd < 0) continue;
      const timeval no_limit{};  // otherwise the listener's
      ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &no_limit, sizeof(no_limit));
      const std::lock_guard lock(mutex_);
      fds_.push_back(fd);
      sessions_.emplace_back([this, fd] { serve(fd); });
    }
  }

  static bool read(int fd, void* data, std::size_t bytes) {
    return ::recv(fd, data, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
  }
  template <class T>
  static T number(int fd) {
    T value{};
    read(fd, &value, sizeof(value));
    return value;
  }
  static std::string blob(int fd) {
    std::string text(number<std::uint64_t>(fd), ' ');
    read(fd, text.data(), text.size());
    return text;
  }
  template <class T>
  static void answer(int fd, T value) {
    ::send(fd, &value, sizeof(value), MSG_NOSIGNAL);
  }

  void serve(int fd) {
    for (StoreOp op{}; read(fd, &op, 1) && handle(fd, op);) {
    }
    ::shutdown(fd, SHUT_RDWR);
  }

  bool handle(int fd, StoreOp op) {
    switch (op) {
      case StoreOp::validate: return number<std::uint32_t>(fd) == store_magic;
      case StoreOp::ping: answer(fd, number<std::uint32_t>(fd)); return true;
      case StoreOp::wait: return wait(fd);
      case StoreOp::cancel_wait: answer(fd, std::uint8_t{1}); return true;
      default: break;
    }
    const std::string key = blob(fd);
    if (op == StoreOp::set) {
      std::string value = blob(fd);
      const std::lock_guard lock(mutex_);
      values_[key] = std::move(value);
      return true;
    }
    const std::lock_guard lock(mutex_);
    if (op == StoreOp::get) {
      std::string out;
      put_blob(out, values_[key]);
      return ::send(fd, out.data(), out.size(), MSG_NOSIGNAL) > 0;
    }
    if (op != StoreOp::delete_key) return false;
    answer(fd, static_cast<std::int64_t>(values_.erase(key)));
    return true;
  }

  bool wait(int fd) {
    if (number<std::uint64_t>(fd) != 1) return false;
    const std::string key = blob(fd);
    while (!over_) {
      char next = 0;
      const ssize_t n = ::recv(fd, &next, 1, MSG_PEEK | MSG_DONTWAIT);
      if (n > 0) return true;  // the wait is taken back
      if (n == 0) return false;
      {
        const std::lock_guard lock(mutex_);
        if (values_.count(key) != 0) {
          answer(fd, std::uint8_t{0});
          return true;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

  const RawSocket listener_ = RawSocket::listening();
  int port_;
  std::atomic<bool> over_ = false;
  std::mutex mutex_;
  std::map<std::string, std::string> values_;
  std::vector<int> fds_;
  std::vector<std::thread> sessions_;
  std::thread acceptor_;
};

}  // namespace ccl_tests::test
