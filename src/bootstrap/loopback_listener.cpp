#include "src/bootstrap/loopback_listener.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace ccl_tests {

LoopbackListener::LoopbackListener()
    : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  constexpr int waiting = 4096;
  if (descriptor_ < 0 ||
      ::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(descriptor_, waiting) != 0) {
    const int error = errno;
    ::close(descriptor_);
    throw std::system_error(error, std::system_category(), "a socket on 127.0.0.1");
  }
}

LoopbackListener::~LoopbackListener() { ::close(descriptor_); }

int LoopbackListener::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

}  // namespace ccl_tests
