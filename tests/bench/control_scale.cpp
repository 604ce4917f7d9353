// How the control plane grows with the number of ranks, beside a star of plain loopback sockets that
// carries the same bytes. Process 0 is real; the others are fakes in one child process.
//
//   control_scale [ranks...]      64 256 1024 4096
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "src/bootstrap/control_client.hpp"
#include "src/bootstrap/control_server.hpp"
#include "src/bootstrap/job_key.hpp"
#include "src/core/error.hpp"
#include "tests/bench/fake_ranks.hpp"

namespace {

using ccl_tests::Contribution;
using ccl_tests::Error;
using ccl_tests::ExchangeKind;
using ccl_tests::Hello;
using ccl_tests::bench::FakeRanks;

constexpr std::size_t bytes_per_rank = 64;
constexpr double limit_s = 600;
constexpr int samples = 21;

std::string text_of(int rank) {
  std::string out = fmt::format("rank {} ", rank);
  out.resize(bytes_per_rank, static_cast<char>('a' + rank % 26));
  return out;
}

Hello hello_of(int rank, int ranks) {
  Hello hello;
  hello.version = "control_scale";
  hello.host = "localhost";
  hello.process = rank;
  hello.processes = ranks;
  hello.pid = 1;
  hello.nonce = "nonce";
  hello.proof = ccl_tests::job_proof({}, ccl_tests::Side::process, hello.nonce);
  return hello;
}

// What one process tells the other, in order.
class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_.data()) != 0) throw Error("pipe");
  }
  ~Pipe() {
    for (const int end : ends_) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void put(int value) const {
    if (::write(ends_[1], &value, sizeof(value)) != sizeof(value)) throw Error("pipe");
  }
  int take() const {
    int value = 0;
    if (::read(ends_[0], &value, sizeof(value)) != sizeof(value))
      throw Error("the other process has ended");
    return value;
  }
  void close_writing() {
    ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

struct Pipes {
  Pipe orders, reports;
};
enum Order { all_gather, gather_and_broadcast, raw_star, leave };

// The fake ranks' side, until `leave`.
void obey(int ranks, const Pipes& pipes) {
  const int control_port = pipes.orders.take(), raw_port = pipes.orders.take();
  FakeRanks control(ranks, control_port), raw(ranks, raw_port);
  pipes.reports.put(0);
  pipes.orders.take();
  const auto hello = [&](int rank) {
    return std::string(ccl_tests::control_magic) + encode(hello_of(rank, ranks));
  };
  const std::string accepted = encode(hello_of(0, ranks), ccl_tests::FrameType::accepted);
  const std::string welcome = ccl_tests::encode_frame(ccl_tests::FrameType::welcome);
  control.step(hello, ccl_tests::control_magic.size() + accepted.size() + welcome.size());
  pipes.reports.put(0);

  std::uint64_t round = 0;
  const auto contribution = [&](int rank, ExchangeKind kind, std::uint64_t ahead) {
    const bool empty = kind == ExchangeKind::broadcast;
    return encode(Contribution{round + ahead, limit_s, empty ? "" : text_of(rank), {}, kind});
  };
  const auto answer = [&](std::size_t blobs, std::uint64_t ahead) {
    return encode(ccl_tests::Round{round + ahead, {blobs, text_of(0)}}).size();
  };
  while (true) {
    switch (pipes.orders.take()) {
      case all_gather:
        control.step([&](int rank) { return contribution(rank, ExchangeKind::all_gather, 0); },
                     answer(static_cast<std::size_t>(ranks), 0));
        if (control.answer(1) != control.answer(ranks - 1)) throw Error("two ranks differ");
        round += 1;
        break;
      case gather_and_broadcast:
        control.step(
            [&](int rank) {
              return contribution(rank, ExchangeKind::gather, 0) +
                     contribution(rank, ExchangeKind::broadcast, 1);
            },
            answer(1, 1));
        if (!control.answer(ranks - 1).ends_with(text_of(0))) throw Error("a wrong broadcast");
        round += 2;
        break;
      case raw_star:
        raw.step(text_of, bytes_per_rank);
        if (raw.answer(ranks - 1) != text_of(0)) throw Error("a wrong broadcast");
        break;
      case leave: return;
    }
    pipes.reports.put(0);
  }
}

// The middle of a star of plain sockets.
class RawStar {
 public:
  RawStar() : listener_(::socket(AF_INET, SOCK_STREAM, 0)), epoll_(::epoll_create1(0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
        ::listen(listener_, 4096) != 0)
      throw Error("listen");
  }
  ~RawStar() {
    for (const int fd : fds_) ::close(fd);
    ::close(listener_);
    ::close(epoll_);
  }
  RawStar(const RawStar&) = delete;
  RawStar& operator=(const RawStar&) = delete;

  int port() const {
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }
  void accept(int ranks) {
    for (int rank = 1; rank < ranks; ++rank) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      const int on = 1;
      ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.fd = fd;
      ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
      fds_.push_back(fd);
    }
  }

  // Reads bytes_per_rank from everyone, then sends as many to everyone.
  void gather_and_broadcast() const {
    std::array<epoll_event, 128> events{};
    std::array<char, bytes_per_rank> in{};
    for (std::size_t came = 0; came < fds_.size();) {
      const int n = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < n; ++i, ++came) {
        if (::recv(events[static_cast<std::size_t>(i)].data.fd, in.data(), in.size(), 0) !=
            static_cast<ssize_t>(in.size()))
          throw Error("the raw star got a part");
      }
    }
    const std::string text = text_of(0);
    for (const int fd : fds_) ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
  }

 private:
  int listener_, epoll_;
  std::vector<int> fds_;
};

// Wall-clock time of a step, until all ranks have their answers, and process 0's CPU time.
struct Cost {
  double wall_s = 0, cpu_s = 0;
};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Cost cost_of(const Pipes& pipes, int order, const std::function<void()>& step) {
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  pipes.orders.put(order);
  step();
  pipes.reports.take();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return {wall.count(), cpu_seconds() - cpu};
}

template <class Member>
double median(const std::vector<Cost>& costs, Member member) {
  std::vector<double> values;
  for (const Cost& cost : costs) values.push_back(cost.*member);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print_row(int ranks, const Cost& joining, const Cost& turn, const std::vector<Cost>& control,
               const std::vector<Cost>& raw) {
  const double wall = median(control, &Cost::wall_s), raw_wall = median(raw, &Cost::wall_s);
  const double cpu = median(control, &Cost::cpu_s), raw_cpu = median(raw, &Cost::cpu_s);
  const double us = 1e6 / ranks;
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{:6} {:8.2f} {:8.2f} {:9.2f} {:8.2f}   {:8.3f} {:8.3f} {:6.2f}   {:8.2f} {:8.2f} "
      "{:6.2f} {:9.1f}\n",
      ranks, 1e3 * joining.wall_s, us * joining.cpu_s, 1e3 * turn.wall_s, us * turn.cpu_s,
      1e3 * wall, 1e3 * raw_wall, wall / raw_wall, us * cpu, us * raw_cpu, cpu / raw_cpu,
      static_cast<double>(usage.ru_maxrss) / 1024);
  std::fflush(stdout);
}

void run_job(int ranks, const Pipes& pipes) {
  ccl_tests::ControlServerOptions options;
  options.self = hello_of(0, ranks);
  options.heartbeat_s = 1000;  // no other traffic
  options.strangers = ccl_tests::unverified_beside(ranks);
  ccl_tests::ControlServer server(options);
  options.log = [](std::string_view line) { fmt::print(stderr, "{}\n", line); };
  ccl_tests::LinkOptions link;
  link.self = options.self;
  link.heartbeat_s = options.heartbeat_s;
  ccl_tests::ControlClient root(link, server.attach(), ccl_tests::deadline_in(60));
  RawStar star;
  pipes.orders.put(server.port());
  pipes.orders.put(star.port());
  star.accept(ranks);
  pipes.reports.take();

  const Cost joining = cost_of(pipes, 0, [&] { root.wait_welcome(60); });
  const Cost turn = cost_of(
      pipes, all_gather, [&] { root.exchange(ExchangeKind::all_gather, {}, text_of(0), limit_s); });
  std::vector<Cost> control, raw;
  for (int i = 0; i < samples; ++i) {
    control.push_back(cost_of(pipes, gather_and_broadcast, [&] {
      const auto all = root.exchange(ExchangeKind::gather, {}, text_of(0), limit_s);
      if (all.at(static_cast<std::size_t>(ranks) - 1) != text_of(ranks - 1))
        throw Error("a wrong gather");
      root.exchange(ExchangeKind::broadcast, {}, text_of(0), limit_s);
    }));
    raw.push_back(cost_of(pipes, raw_star, [&] { star.gather_and_broadcast(); }));
  }
  print_row(ranks, joining, turn, control, raw);
  pipes.orders.put(leave);
}

int be_fake(int ranks, const Pipes& pipes) {
  try {
    obey(ranks, pipes);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

void measure(int ranks) {
  Pipes pipes;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) std::_Exit(be_fake(ranks, pipes));
  pipes.reports.close_writing();
  run_job(ranks, pipes);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) throw Error("the fake ranks failed");
}

// False if the system does not allow so many descriptors.
bool allow_files(rlim_t wanted) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted) return true;
  limit.rlim_cur = wanted;
  limit.rlim_max = std::max(limit.rlim_max, wanted);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> counts;
  for (int i = 1; i < argc; ++i) counts.push_back(std::atoi(argv[i]));
  if (counts.empty()) counts = {64, 256, 1024, 4096};
  fmt::print(
      "# cpu: process 0's, in us for each rank; medians of {} gathers and broadcasts of {} B\n"
      "#          joining          all_gather          gather + broadcast, ms        cpu\n"
      "# ranks       ms      cpu        ms      cpu    control      raw  ratio    control      raw"
      "  ratio  peak MiB\n",
      samples, bytes_per_rank);
  try {
    for (const int ranks : counts) {
      if (!allow_files(2 * static_cast<rlim_t>(ranks) + 512)) {
        fmt::print("# {} ranks: not enough descriptors (ulimit -n)\n", ranks);
        continue;
      }
      measure(ranks);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 4;
  }
  return 0;
}
