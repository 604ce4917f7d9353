// Bare sockets on loopback: what a stranger, or a program of another make, would send and see.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ccl_tests::test {

class RawSocket {
 public:
  explicit RawSocket(int fd) : fd_(fd) {
    const timeval limit{20, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  RawSocket(RawSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  RawSocket& operator=(RawSocket&&) = delete;
  ~RawSocket() { close(); }

  static RawSocket connected_to(int port) {
    RawSocket socket(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = loopback(port);
    if (::connect(socket.fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 &&
        (errno != EINTR || !socket.connects()))
      throw std::runtime_error("connect");
    return socket;
  }

  static RawSocket listening(int waiting = 4096) {
    RawSocket socket(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address = loopback(0);
    if (::bind(socket.fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
        ::listen(socket.fd_, waiting) != 0) {
      throw std::runtime_error("listen");
    }
    return socket;
  }

  // Bound, but not listening: connections are refused, and a listener that reuses addresses may have the
  // port.
  static RawSocket bound() {
    RawSocket socket(::socket(AF_INET, SOCK_STREAM, 0));
    const int yes = 1;
    ::setsockopt(socket.fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    sockaddr_in address = loopback(0);
    if (::bind(socket.fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
      throw std::runtime_error("bind");
    return socket;
  }

  int descriptor() const { return fd_; }
  int port() const {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }

  RawSocket accept() const { return RawSocket(::accept(fd_, nullptr, nullptr)); }

  void send(std::string_view bytes) const { ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

  // Up to `bytes`; fewer when the peer closes or resets the connection, or says nothing for long.
  std::string read(std::size_t bytes) const {
    std::string out(bytes, '\0');
    std::size_t got = 0;
    while (got < bytes) {
      const ssize_t n = ::recv(fd_, out.data() + got, bytes - got, 0);
      if (n <= 0) break;
      got += static_cast<std::size_t>(n);
    }
    out.resize(got);
    return out;
  }

  // True when the peer ends the connection without saying anything more.
  bool closed_by_peer() const {
    char byte = 0;
    const ssize_t n = ::recv(fd_, &byte, 1, 0);
    return n == 0 || (n < 0 && errno == ECONNRESET);
  }

  void shutdown() const { ::shutdown(fd_, SHUT_RDWR); }

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  // A signal (libFuzzer's clock) has interrupted connect(), which goes on.
  bool connects() const {
    pollfd ready{fd_, POLLOUT, 0};
    while (::poll(&ready, 1, -1) < 0 && errno == EINTR) continue;
    int error = 0;
    socklen_t length = sizeof(error);
    return ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
  }

  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    return address;
  }

  int fd_;
};

// Returns a port that nobody listens on, and that the system gives to nobody else until the process ends.
inline int reserved_port() {
  static std::vector<RawSocket> held;
  return held.emplace_back(RawSocket::bound()).port();
}

}  // namespace ccl_tests::test
