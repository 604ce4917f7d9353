#include "src/bootstrap/local_processes.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>

#include "src/bootstrap/child_process.hpp"
#include "src/bootstrap/job_key.hpp"
#include "src/bootstrap/net.hpp"
#include "src/core/error.hpp"
#include "src/core/host.hpp"
#include "src/core/signals.hpp"
#include "src/core/write_all.hpp"

namespace ccl_tests {
namespace {

// Returns the environment of this process, without what another launcher says, and with what says
// the same to detect_launch.
std::vector<std::string> child_environment(int rank, int ranks, int port, int listener,
                                           const std::string& secret) {
  std::map<std::string, std::string, std::less<>> ours = {
      {"RANK", std::to_string(rank)},        {"LOCAL_RANK", std::to_string(rank)},
      {"WORLD_SIZE", std::to_string(ranks)}, {"LOCAL_WORLD_SIZE", std::to_string(ranks)},
      {"MASTER_ADDR", "127.0.0.1"},          {"MASTER_PORT", std::to_string(port)},
      {"CCL_LAUNCHER", "local processes"},   {"CCL_JOB_SECRET", secret}};
  if (rank == 0 && ranks > 1) ours["CCL_LISTENER"] = std::to_string(listener);
  const auto is_of_a_launcher = [&](std::string_view name) {
    return ours.contains(name) || name == "CCL_LISTENER" || name == "TORCHELASTIC_RUN_ID" ||
           name == "TORCHELASTIC_USE_AGENT_STORE" || name == "TORCHELASTIC_RESTART_COUNT";
  };
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!is_of_a_launcher(text.substr(0, text.find('=')))) out.emplace_back(text);
  }
  for (const auto& [name, value] : ours) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

// Returns what /proc/PID/stat says: "PID (name) T ...".
bool is_stopped(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= line.size()) return false;
  const char state = line[name_end + 2];
  return state == 'T' || state == 't';
}

// Returns what a signal may come from.
std::string cause_of(int signal) {
  const auto room = signal == SIGBUS ? free_shared_memory() : std::nullopt;
  return room ? fmt::format("; /dev/shm has {} B free", *room) : std::string();
}

struct RankProcess {
  int rank;
  Child child;
  LinePrefix lines;
  bool ended = false;
};

class Supervisor {
 public:
  explicit Supervisor(double grace_s) : grace_s_(grace_s) {}
  ~Supervisor() {
    signal_all(SIGKILL);
    for (RankProcess& process : processes_) process.child.wait();
  }

  // listener: the socket that listens on `port`, for rank 0, which inherits it.
  void start(int ranks, const std::vector<std::string>& arguments, int listener, int port) {
    const std::string secret = random_hex(32);
    ChildProgram program;
    program.path = own_path();
    program.arguments = {program.path};
    program.arguments.insert(program.arguments.end(), arguments.begin(), arguments.end());
    for (int rank = 0; rank < ranks; ++rank) {
      program.environment = child_environment(rank, ranks, port, listener, secret);
      program.inherited = rank == 0 && ranks > 1 ? listener : -1;
      processes_.push_back({rank, start_child(program), LinePrefix(rank)});
    }
  }

  int run() {
    while (any([](const RankProcess& process) { return !process.ended; })) {
      wait_for_news();
      pass_lines();
      reap();
      while (const int signal = signals_.next()) on_signal(signal);
      end_late_ones();
    }
    pass_lines();
    if (lost_) await_crash_footer();
    for (RankProcess& process : processes_)
      if (!refused_) write_all(STDERR_FILENO, process.lines.rest());
    return interrupted_ != 0 ? 128 + interrupted_ : code_;
  }

 private:
  template <class Condition>
  bool any(Condition condition) const {
    return std::any_of(processes_.begin(), processes_.end(), condition);
  }

  void signal_all(int signal) {
    for (RankProcess& process : processes_) process.child.signal(signal);
  }

  void kill_all() {
    killed_ = true;
    signal_all(SIGKILL);
  }

  void end_within(double seconds) {
    if (!deadline_) deadline_ = deadline_in(seconds);
  }

  void wait_for_news() const {
    std::vector<pollfd> fds = {{signals_.fd(), POLLIN, 0}};
    int wait_ms = -1;
    for (const RankProcess& process : processes_) {
      fds.push_back(process.child.end_event());
      fds.push_back(process.child.stderr_event());
      wait_ms = process.child.poll_limit(wait_ms);
    }
    if (deadline_) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(
          *deadline_ - std::chrono::steady_clock::now());
      const auto left_ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
      wait_ms = wait_ms < 0 ? left_ms : std::min(wait_ms, left_ms);
    }
    ::poll(fds.data(), fds.size(), wait_ms);
  }

  void pass_lines() {
    std::array<char, 16384> chunk{};
    for (RankProcess& process : processes_) {
      while (process.child.stderr_fd() >= 0) {
        const ssize_t bytes = ::read(process.child.stderr_fd(), chunk.data(), chunk.size());
        if (bytes > 0) {
          if (!refused_)
            write_all(STDERR_FILENO,
                      process.lines.add({chunk.data(), static_cast<std::size_t>(bytes)}));
          continue;
        }
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes < 0 && errno == EAGAIN) break;
        process.child.close_stderr();
      }
    }
  }

  // Passes the first signal to the ranks, which end in order. A second SIGINT, SIGTERM or SIGQUIT
  // means now, but not directly after the first one: timeout(1) signals its child and then its
  // group.
  void on_signal(int signal) {
    if (again_from_) {
      if (!is_urgent_again(signal) || std::chrono::steady_clock::now() < *again_from_) return;
      interrupted_ = signal;
      kill_all();
    } else {
      constexpr double same_wish_s = 0.5;
      again_from_ = deadline_in(same_wish_s);
      passed_on_ = signal;
      signal_all(signal);
    }
    end_within(grace_s_);
  }

  void reap() {
    for (RankProcess& process : processes_) {
      if (process.ended) continue;
      const auto status = process.child.status();
      if (!status) continue;
      process.ended = true;
      pass_lines();  // what it said comes before what is said about it
      on_end(process, *status);
    }
  }

  void on_end(const RankProcess& process, ChildStatus status) {
    int code = status.code;
    const int signal = status.signal;
    lost_ = lost_ || signal != 0;
    if (killed_ && signal == SIGKILL) {  // by this process
      if (refused_) return;
      say(process, interrupted_ != 0 ? "was interrupted twice, and killed"
                                     : "did not end by itself and was killed");
      if (code_ == 0) code_ = exit_code(Exit::failed);
      return;
    }
    // Ends by SIGTERM those that were interrupted and still wait for others, for the first
    // signal's reason.
    if (terminated_ && passed_on_ != 0 && code == 128 + SIGTERM) code = 128 + passed_on_;
    if (signal != 0 && signal != passed_on_) {
      code = exit_code(Exit::failed);
      say(process, fmt::format("was ended by signal {} ({}){}", signal, ::strsignal(signal),
                               cause_of(signal)));
    }
    if (!status.known) say(process, unknown_end);
    code_ = most_severe(code_, code);
    if (code == 0) return;
    if (process.rank == 0 && code == exit_code(Exit::usage)) {
      refused_ = true;
      kill_all();
      return;
    }
    // A rank that is stopped (SIGSTOP, a debugger) lets the others wait until one of them gives up.
    if (!deadline_)
      for (const RankProcess& other : processes_)
        if (!other.ended && is_stopped(other.child.pid()))
          say(other, "is stopped: the others waited for it");
    end_within(grace_s_);
  }

  static void say(const RankProcess& process, std::string_view what) {
    write_all(STDERR_FILENO,
              fmt::format("rank {} (pid {}) {}\n", process.rank, process.child.pid(), what));
  }

  void end_late_ones() {
    if (!deadline_ || std::chrono::steady_clock::now() < *deadline_) return;
    if (terminated_)
      kill_all();
    else
      signal_all(SIGTERM);
    terminated_ = true;
    deadline_ = deadline_in(1);
  }

  // Waits for what a rank started to write its ends if it is killed (CrashFooter), which has the
  // rank's stderr until that is done.
  void await_crash_footer() {
    deadline_ = deadline_in(1);
    while (any([](const RankProcess& process) { return process.child.stderr_fd() >= 0; }) &&
           std::chrono::steady_clock::now() < *deadline_) {
      wait_for_news();
      pass_lines();
      while (signals_.next() != 0) {
      }
    }
  }

  double grace_s_;
  bool refused_ = false;  // by rank 0, which has said why: the others are killed without a word
  SignalPipe signals_;
  std::vector<RankProcess> processes_;
  int code_ = 0;
  int passed_on_ = 0;    // the first signal; a rank that starts has no handler yet, and ends by it
  int interrupted_ = 0;  // the signal that came twice
  bool terminated_ = false, killed_ = false;
  bool lost_ = false;                    // a rank ended by a signal
  std::optional<TimePoint> again_from_;  // a signal was passed on; from then on one more means now
  std::optional<TimePoint> deadline_;    // of those still alive
};

}  // namespace

int run_local_processes(int processes, const std::vector<std::string>& arguments, double grace_s) {
  Supervisor supervisor(grace_s);
  try {
    asio::io_context io;
    auto listener = listen_on(io, {.address = "127.0.0.1"});
    supervisor.start(processes, arguments, listener.native_handle(),
                     listener.local_endpoint().port());
  } catch (const std::system_error& error) {
    throw Error(fmt::format("cannot start {} local processes: {}", processes, error.what()));
  }
  return supervisor.run();
}

}  // namespace ccl_tests
