#include "src/bootstrap/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <system_error>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/signals.hpp"

namespace ccl_tests {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Takes handlers away before signals come through again. What this process ignores for its own sake
// (run_main) is not ignored for its children.
void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    const bool ours = signal == SIGPIPE || signal == SIGXFSZ || signal == SIGCHLD;
    if (ours || !is_ignored(signal)) ::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Does, between fork and exec, only what is safe in a child of a process with threads.
[[noreturn]] void become(const char* path, char* const* argv, char* const* envp, int stderr_fd,
                         int inherited, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(exit_code(Exit::failed));  // it died before prctl
  ::setpgid(0, 0);
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, STDIN_FILENO);
  ::dup2(stderr_fd, STDERR_FILENO);
  if (null > STDERR_FILENO) ::close(null);
  if (inherited >= 0) ::fcntl(inherited, F_SETFD, 0);
  reset_signals();
  ::signal(SIGTTOU, SIG_IGN);  // with stty tostop, a terminal stops background groups that write
  ::execve(path, argv, envp);
  constexpr std::string_view text = "exec failed\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(exit_code(Exit::failed));
}

// Forks with all signals blocked in the child: one that arrives before exec waits for the new program.
pid_t fork_blocked() {
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::fork();
  if (pid == 0) return pid;
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return pid;
}

// Returns -1 on kernels before Linux 5.3, and if there are no descriptors left.
int open_pidfd(pid_t pid) {
  constexpr long pidfd_open = 434;  // of all architectures; older C libraries have no name for it
  return static_cast<int>(::syscall(pidfd_open, pid, 0));
}

}  // namespace

std::string own_path() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) throw std::system_error(errno, std::system_category(), "/proc/self/exe");
  return {path.data(), static_cast<std::size_t>(length)};
}

Child start_child(const ChildProgram& program) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::system_category());
  ::fcntl(pipe[0], F_SETFL, O_NONBLOCK);
  const std::vector<char*> argv = pointers(program.arguments);
  const std::vector<char*> own = pointers(program.environment);
  char* const* const envp = program.environment.empty() ? environ : own.data();
  const pid_t parent = ::getpid();
  if (is_ignored(SIGCHLD)) ::signal(SIGCHLD, SIG_DFL);  // ignored, it makes children vanish unseen
  const pid_t pid = fork_blocked();
  if (pid == 0) become(program.path.c_str(), argv.data(), envp, pipe[1], program.inherited, parent);
  const int error = errno;
  ::close(pipe[1]);
  if (pid < 0) {
    ::close(pipe[0]);
    throw std::system_error(error, std::system_category(), "fork");
  }
  return {pid, pipe[0]};
}

Child::Child(pid_t pid, int stderr_fd)
    : pid_(pid), stderr_fd_(stderr_fd), end_fd_(open_pidfd(pid)) {}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      stderr_fd_(std::exchange(other.stderr_fd_, -1)),
      end_fd_(std::exchange(other.end_fd_, -1)),
      status_(other.status_) {}

Child::~Child() {
  close_stderr();
  if (end_fd_ >= 0) ::close(end_fd_);
  if (pid_ > 0 && status_) ::waitpid(pid_, nullptr, WNOHANG);
}

std::optional<ChildStatus> Child::status() {
  if (status_) return status_;
  siginfo_t info{};
  const int waited = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (waited == 0 && info.si_pid == pid_)
    status_ = info.si_code == CLD_EXITED ? ChildStatus{info.si_status}
                                         : ChildStatus{128 + info.si_status, info.si_status};
  // A library's thread that waits for any child of the process has waited for this one, or a library ignores SIGCHLD.
  if (waited != 0 && errno == ECHILD) status_ = ChildStatus{exit_code(Exit::failed), 0, false};
  return status_;
}

ChildStatus Child::wait() {
  while (!status()) {
    pollfd end = end_event();
    ::poll(&end, 1, poll_limit(-1));
  }
  return *status_;
}

void Child::signal(int number) {
  if (!status()) ::kill(pid_, number);
}

void Child::close_stderr() {
  if (stderr_fd_ >= 0) ::close(std::exchange(stderr_fd_, -1));
}

int Child::poll_limit(int wait_ms) const {
  constexpr int look_ms = 50;
  if (status_ || end_fd_ >= 0) return wait_ms;
  return wait_ms < 0 ? look_ms : std::min(wait_ms, look_ms);
}

std::string LinePrefix::add(std::string_view bytes) {
  constexpr std::size_t longest_line = 64 << 10;
  std::string out;
  for (const char c : bytes) {
    if (pending_.empty()) pending_ = prefix_;
    pending_ += c;
    if (c == '\n' || pending_.size() > longest_line) {
      out += pending_;
      if (c != '\n') out += '\n';
      pending_.clear();
    }
  }
  return out;
}

std::string LinePrefix::rest() {
  std::string out = std::exchange(pending_, {});
  if (!out.empty()) out += '\n';
  return out;
}

}  // namespace ccl_tests
