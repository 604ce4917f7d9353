#include "src/backends/nccl/ras.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace ccl_tests::nccl_module {
namespace {

constexpr int limit_s = 3;
constexpr std::size_t longest = 4000;  // bytes of the report that are shown

class Socket {
 public:
  explicit Socket(const addrinfo& address)
      : fd_(socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, 0)) {
    const timeval limit{limit_s, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    open_ = fd_ >= 0 && connect(fd_, address.ai_addr, address.ai_addrlen) == 0;
  }
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  bool open() const { return open_; }
  bool say(std::string_view text) const {
    return send(fd_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  // Bytes that have come; empty: none within the limit, or no more.
  std::string hear() const {
    std::array<char, 4096> bytes{};
    const ssize_t n = recv(fd_, bytes.data(), bytes.size(), 0);
    return n > 0 ? std::string(bytes.data(), static_cast<std::size_t>(n)) : std::string();
  }

 private:
  int fd_;
  bool open_ = false;
};

// Text in one line, for the error that it is part of.
std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  return line;
}

std::string ask(const addrinfo& address) {
  const Socket socket(address);
  if (!socket.open() || !socket.say("CLIENT PROTOCOL 2\n")) return {};
  if (!socket.hear().starts_with("SERVER PROTOCOL") || !socket.say("VERBOSE STATUS\n")) return {};
  std::string report;
  for (std::string more = socket.hear(); !more.empty() && report.size() < longest;
       more = socket.hear())
    report += more;
  return one_line(report.substr(0, longest));
}

}  // namespace

std::string ras_report() {
  const char* const set = std::getenv("NCCL_RAS_ADDR");
  const std::string address = set != nullptr ? set : "localhost:28028";
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return {};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.substr(0, colon).c_str(), address.substr(colon + 1).c_str(), &hints,
                  &found) != 0)
    return {};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next) {
    if (const std::string report = ask(*a); !report.empty()) return ": NCCL's RAS says: " + report;
  }
  return {};
}

}  // namespace ccl_tests::nccl_module
