// bootstrap_helper N MODE ARG...: supervises N copies of itself, which join a job and then
//   codes C...   end with code C[rank]
//   die R        rank R is killed, the others report what they learn of it
//   stuck R      rank R fails, the others would sleep for ever
//   listeners    print how many listening sockets the rank has inherited
//   lines        write to stderr in pieces
//   signal       wait for SIGTERM, then end with code 6
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "src/bootstrap/control.hpp"
#include "src/bootstrap/local_processes.hpp"
#include "src/core/error.hpp"
#include "src/core/signals.hpp"

namespace {

int listening_sockets() {
  int count = 0;
  for (int fd = 0; fd < 256; ++fd) {
    int listens = 0;
    socklen_t size = sizeof(listens);
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0) ++count;
  }
  return count;
}

int act(ccl_tests::Control& control, const std::vector<std::string>& arguments,
        const std::optional<ccl_tests::SignalPipe>& signals) {
  const std::string& mode = arguments[0];
  const int rank = control.process();
  control.all_gather("ready", 60);
  if (mode == "codes") return std::stoi(arguments.at(static_cast<std::size_t>(rank) + 1));
  if (mode == "die") {
    if (rank == std::stoi(arguments.at(1))) ::raise(SIGKILL);
    const ccl_tests::Failure failure = control.wait_failure(60);
    fmt::print(stderr, "{}\n", failure.message);
    return failure.code;
  }
  if (mode == "stuck") {
    if (rank == std::stoi(arguments.at(1))) return 7;
    while (true) ::pause();
  }
  if (mode == "listeners") return listening_sockets() == 0 ? 0 : 3;  // all have come
  if (mode == "lines") {
    for (int line = 0; line < 100; ++line) {
      fmt::print(stderr, "line {} ", line);
      fmt::print(stderr, "of rank {}\n", rank);
    }
    fmt::print(stderr, "no end of line");
    return 0;
  }
  if (mode == "signal") {
    control.all_gather("handlers are set", 60);
    if (rank == 0) fmt::print("ready\n");
    std::fflush(stdout);
    return signals->wait() != 0 ? 6 : 2;
  }
  return 2;
}

int as_rank(const std::vector<std::string>& arguments) {
  std::optional<ccl_tests::SignalPipe> signals;
  if (arguments[0] == "signal") signals.emplace();
  const int inherited = listening_sockets();
  const ccl_tests::Launch launch = ccl_tests::detect_launch(ccl_tests::process_environment());
  if (launch.launcher != "local processes") return 2;
  const auto control = ccl_tests::join(launch, {1, 60, "1.0"}, nullptr, nullptr);
  if (arguments[0] == "listeners") fmt::print(stderr, "inherited {}\n", inherited);
  return act(*control, arguments, signals);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.at(0) == "rank") return as_rank({arguments.begin() + 1, arguments.end()});
    std::vector<std::string> rank_arguments = {"rank"};
    rank_arguments.insert(rank_arguments.end(), arguments.begin() + 1, arguments.end());
    return ccl_tests::run_local_processes(std::stoi(arguments[0]), rank_arguments, 1.0);
  } catch (const ccl_tests::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return ccl_tests::exit_code(error.code());
  }
}
