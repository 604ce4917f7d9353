// A client of the RAS service of NCCL.
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "src/backends/nccl/api.hpp"
#include "src/core/clock.hpp"

namespace ccl_tests::nccl_module {
namespace {

constexpr double limit_s = 4.5;  // of all; the watchdog says what it knows after 5 s
// NCCL answers with the job at once, and with its communicators when all ranks have answered or
// this has passed: 5 s if it is not told (RAS_COLLECTIVE_LEG_TIMEOUT_SEC of NCCL's ras_internal.h).
constexpr std::string_view collecting = "TIMEOUT 2\n";
constexpr std::size_t longest = 4000;  // bytes of the report that are shown

class Socket {
 public:
  Socket(const addrinfo& address, double end_s)
      : fd_(socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, 0)), end_s_(end_s) {
    open_ =
        fd_ >= 0 && limit(SO_SNDTIMEO) && connect(fd_, address.ai_addr, address.ai_addrlen) == 0;
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
    if (!limit(SO_RCVTIMEO)) return {};
    const ssize_t n = recv(fd_, bytes.data(), bytes.size(), 0);
    return n > 0 ? std::string(bytes.data(), static_cast<std::size_t>(n)) : std::string();
  }

 private:
  // Returns false when no time is left.
  bool limit(int which) const {
    const double left_s = end_s_ - monotonic_seconds();
    if (left_s <= 0) return false;
    const auto us = static_cast<long>(1e6 * left_s) + 1;
    const timeval left{us / 1000000, us % 1000000};
    return setsockopt(fd_, SOL_SOCKET, which, &left, sizeof left) == 0;
  }

  int fd_;
  double end_s_;
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

std::string ask(const addrinfo& address, double end_s) {
  const Socket socket(address, end_s);
  if (!socket.open() || !socket.say("CLIENT PROTOCOL 2\n")) return {};
  if (!socket.hear().starts_with("SERVER PROTOCOL") || !socket.say(collecting)) return {};
  if (!socket.hear().starts_with("OK") || !socket.say("VERBOSE STATUS\n")) return {};
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
  const double end_s = monotonic_seconds() + limit_s;
  for (const addrinfo* a = found; a != nullptr; a = a->ai_next)
    if (const std::string report = ask(*a, end_s); !report.empty())
      return ": NCCL's RAS says: " + report;
  return {};
}

}  // namespace ccl_tests::nccl_module
