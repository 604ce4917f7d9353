#include "tools/compare/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "src/bootstrap/child_process.hpp"
#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/core/signals.hpp"

namespace ccl_tests::compare {
namespace {

constexpr double grace = 10;  // seconds between SIGTERM and SIGKILL

std::vector<std::string> environment_now() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  return variables;
}

// The last line of a text that arrives in pieces, without empty lines.
class LastLine {
 public:
  void add(std::string_view bytes) {
    constexpr std::size_t longest = 4096;
    for (const char c : bytes) {
      if (c == '\n') {
        if (!line_.empty()) last_ = std::move(line_);
        line_.clear();
      } else if (line_.size() < longest) {
        line_ += c;
      }
    }
  }
  const std::string& text() const { return line_.empty() ? last_ : line_; }

 private:
  std::string line_, last_;
};

// A command that runs, in a process group of its own. The destructor ends the group.
class Running {
 public:
  explicit Running(const std::string& command)
      : child_(start_child(
            {"/bin/sh", {"sh", "-c", "exec >/dev/null\n" + command}, environment_now()})) {}
  ~Running() {
    if (!status_) end();
    ::close(child_.stderr_fd);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  int stderr_fd() const { return child_.stderr_fd; }
  const std::string& last_line() const { return last_.text(); }

  void read_stderr() {
    std::array<char, 4096> bytes{};
    ssize_t got = 0;
    while ((got = ::read(child_.stderr_fd, bytes.data(), bytes.size())) > 0)
      last_.add({bytes.data(), static_cast<std::size_t>(got)});
    open_ = got < 0 && (errno == EAGAIN || errno == EINTR);
  }
  bool open() const { return open_; }

  // Returns the exit status, or nullopt if the command runs.
  std::optional<int> status() {
    int status = 0;
    if (!status_ && ::waitpid(child_.pid, &status, WNOHANG) == child_.pid) status_ = status;
    return status_;
  }
  // Kills what the command left behind.
  void kill_group() const { ::kill(-child_.pid, SIGKILL); }

 private:
  // Ends the group: SIGTERM, and SIGKILL when the command is still there after the grace.
  void end() {
    ::kill(-child_.pid, SIGTERM);
    const double limit = monotonic_seconds() + grace;
    while (!status() && monotonic_seconds() < limit) Clock().sleep_for(0.01);
    kill_group();
    int status = 0;
    if (!status_) ::waitpid(child_.pid, &status, 0);
  }

  Child child_;
  LastLine last_;
  std::optional<int> status_;
  bool open_ = true;
};

void check(const std::string& command, int status, const std::string& last_line) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string end = WIFSIGNALED(status)
                              ? fmt::format("was killed by signal {}", WTERMSIG(status))
                              : fmt::format("ended with exit code {}", WEXITSTATUS(status));
  throw CommandFailed(fmt::format("the command {} {}: {}", quote(command, shown_path_characters),
                                  end,
                                  last_line.empty() ? "it wrote nothing to stderr" : last_line));
}

}  // namespace

struct CommandRunner::Signals {
  sigset_t before{};
  int descriptor = -1;

  // Returns the signal that asks the tool to end, or 0.
  int asked() const {
    signalfd_siginfo info{};
    while (::read(descriptor, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
      if (info.ssi_signo != SIGCHLD) return static_cast<int>(info.ssi_signo);
    return 0;
  }
};

CommandRunner::CommandRunner() : signals_(std::make_unique<Signals>()) {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGCHLD);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) sigaddset(&ours, signal);
  ::pthread_sigmask(SIG_BLOCK, &ours, &signals_->before);
  signals_->descriptor = ::signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC);
}

CommandRunner::~CommandRunner() {
  ::close(signals_->descriptor);
  ::pthread_sigmask(SIG_SETMASK, &signals_->before, nullptr);
}

void CommandRunner::run(const std::string& command) {
  if (const int signal = signals_->asked()) throw Interrupted{signal};
  Running running(command);
  while (!running.status()) {
    std::array<pollfd, 2> waits = {{{signals_->descriptor, POLLIN, 0},
                                    {running.open() ? running.stderr_fd() : -1, POLLIN, 0}}};
    constexpr int ms = 100;  // SIGCHLD may have come before the first wait
    ::poll(waits.data(), waits.size(), ms);
    if (const int signal = signals_->asked()) throw Interrupted{signal};
    running.read_stderr();
  }
  running.kill_group();
  running.read_stderr();
  check(command, *running.status(), running.last_line());
}

}  // namespace ccl_tests::compare
