// How the meeting and an exchange grow with the number of ranks: process 0 is real, with a store
// beside it; the others are fakes in one child process.
//
//   store_scale [ranks...]      64 256 1024 4096
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "src/bootstrap/control.hpp"
#include "src/bootstrap/store_server.hpp"
#include "src/core/error.hpp"
#include "tests/bench/fake_ranks.hpp"

namespace {

constexpr const char* version = "store_scale";
constexpr const char* prefix = "ccl-tests/none/0/";
constexpr std::size_t exchange_bytes = 64;

// What one process tells the other, in order.
class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_.data()) != 0) throw ccl_tests::Error("pipe");
  }
  ~Pipe() {
    for (const int end : ends_) ::close(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  template <class T>
  void put(const T& value) const {
    if (::write(ends_[1], &value, sizeof(value)) != sizeof(value)) throw ccl_tests::Error("pipe");
  }
  template <class T>
  T take() const {
    T value{};
    if (::read(ends_[0], &value, sizeof(value)) != sizeof(value)) {
      throw ccl_tests::Error("the fake ranks have ended");
    }
    return value;
  }
  void close_writing() {
    ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Wall-clock and process 0's own CPU time since construction.
class Stopwatch {
 public:
  double wall() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  double cpu() const { return cpu_seconds() - cpu_; }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double cpu_ = cpu_seconds();
};

struct Phase {
  double wall = 0, cpu = 0;
  ccl_tests::bench::Traffic traffic;  // since the beginning
};

int be_fake(int ranks, const Pipe& orders, const Pipe& reports) {
  try {
    ccl_tests::bench::FakeRanks fakes(
        {ranks, orders.take<int>(), std::string(prefix) + "control", version, exchange_bytes});
    fakes.join();
    reports.put(fakes.traffic());
    orders.take<int>();
    fakes.all_gather();
    reports.put(fakes.traffic());
    fakes.leave();
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

void print_row(int ranks, const Phase& join, const Phase& exchange) {
  const double n = ranks;
  const auto& [store_in, store_out, hub_in, hub_out] = join.traffic;
  const auto sent = static_cast<double>(exchange.traffic.hub_out - hub_out);
  const auto received = static_cast<double>(exchange.traffic.hub_in - hub_in);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{:6} {:8.3f} {:8.1f} {:8.1f} {:8.1f} {:8.1f}   {:8.3f} {:8.1f} {:8.1f} {:8.1f} "
      "{:10.1f} {:8.3f} {:8.1f} {:8.1f}\n",
      ranks, join.wall, 1e6 * join.wall / n, 1e6 * join.cpu / n,
      static_cast<double>(store_in + store_out) / n, static_cast<double>(hub_in + hub_out) / n,
      exchange.wall, 1e6 * exchange.wall / n, 1e6 * exchange.cpu / n, received / n, sent / n,
      sent / (n * n * exchange_bytes), sent / 1e6, static_cast<double>(usage.ru_maxrss) / 1024);
}

void run_job(int ranks, const Pipe& orders, const Pipe& reports) {
  const ccl_tests::StoreServer store(0, "127.0.0.1", ccl_tests::probation_beside(ranks));
  ccl_tests::Launch launch;
  launch.processes = ranks;
  launch.master_host = "127.0.0.1";
  launch.master_port = store.port();
  launch.agent_store = true;
  launch.key_prefix = prefix;

  Phase join, exchange;
  const Stopwatch joining;
  orders.put(store.port());
  const auto control =
      ccl_tests::join(launch, {1, 60, version, {}}, nullptr,
                      [](std::string_view line) { fmt::print(stderr, "{}\n", line); });
  join.traffic = reports.take<ccl_tests::bench::Traffic>();
  join.wall = joining.wall();
  join.cpu = joining.cpu();

  const Stopwatch exchanging;
  orders.put(0);
  control->all_gather(ccl_tests::bench::contribution_of(0, exchange_bytes), 600);
  exchange.traffic = reports.take<ccl_tests::bench::Traffic>();
  exchange.wall = exchanging.wall();
  exchange.cpu = exchanging.cpu();
  print_row(ranks, join, exchange);
}

void measure(int ranks) {
  Pipe orders, reports;
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) std::_Exit(be_fake(ranks, orders, reports));
  reports.close_writing();
  run_job(ranks, orders, reports);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) throw ccl_tests::Error("the fake ranks failed");
}

// False when the system does not allow so many descriptors.
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
      "# per rank: us until all have it, us of process 0's CPU, bytes through process 0\n"
      "#       | meeting: store, control plane, a barrier            | exchange of {} bytes from "
      "each rank to all\n"
      "# ranks        s  us/rank cpu/rank  store B    hub B          s  us/rank cpu/rank in B/rank "
      "out B/rank  out/NxNxB  out MB  peak MiB\n",
      exchange_bytes);
  try {
    for (const int ranks : counts) {
      if (!allow_files(2 * static_cast<rlim_t>(ranks) + 512)) {
        fmt::print("# {} ranks: not enough descriptors (ulimit -n)\n", ranks);
        continue;
      }
      measure(ranks);
    }
  } catch (const ccl_tests::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 4;
  }
  return 0;
}
