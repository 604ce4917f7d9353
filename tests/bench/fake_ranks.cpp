#include "tests/bench/fake_ranks.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "src/core/error.hpp"

namespace ccl_tests::bench {
namespace {

int connected_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
    throw Error("a fake rank cannot connect");
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return fd;
}

}  // namespace

FakeRanks::FakeRanks(int ranks, int port)
    : fakes_(static_cast<std::size_t>(ranks)), epoll_(::epoll_create1(0)) {
  for (int rank = 1; rank < ranks; ++rank) {
    Fake& fake = fakes_[static_cast<std::size_t>(rank)];
    fake.fd = connected_to(port);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &fake;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fake.fd, &event);
  }
}

FakeRanks::~FakeRanks() {
  for (const Fake& fake : fakes_)
    if (fake.fd >= 0) ::close(fake.fd);
  ::close(epoll_);
}

void FakeRanks::step(const std::function<std::string(int rank)>& message,
                     std::size_t answer_bytes) {
  std::size_t missing = fakes_.size() - 1;
  for (std::size_t rank = 1; rank < fakes_.size(); ++rank) {
    Fake& fake = fakes_[rank];
    fake.in.resize(answer_bytes);
    fake.read = 0;
    const std::string bytes = message(static_cast<int>(rank));
    if (::send(fake.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size()))
      throw Error("a fake rank cannot send");
  }
  std::array<epoll_event, 128> events{};
  while (missing > 0) {
    const int n = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 60000);
    if (n <= 0 && errno != EINTR) throw Error("the fake ranks wait in vain");
    for (int i = 0; i < n; ++i)
      read_some(*static_cast<Fake*>(events[static_cast<std::size_t>(i)].data.ptr), missing);
  }
}

void FakeRanks::read_some(Fake& fake, std::size_t& missing) {
  if (fake.read == fake.in.size()) throw Error("a fake rank got more than it should");
  const ssize_t n =
      ::recv(fake.fd, fake.in.data() + fake.read, fake.in.size() - fake.read, MSG_DONTWAIT);
  if (n <= 0) throw Error("a fake rank is cut off");
  fake.read += static_cast<std::size_t>(n);
  if (fake.read == fake.in.size()) --missing;
}

}  // namespace ccl_tests::bench
