#include "src/bootstrap/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <system_error>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// Between fork and exec: only what is safe in a child of a process with threads.
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
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(path, argv, envp);
  constexpr std::string_view text = "exec failed\n";
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, text.data(), text.size());
  ::_exit(exit_code(Exit::failed));
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
  const std::vector<char*> envp = pointers(program.environment);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0)
    become(program.path.c_str(), argv.data(), envp.data(), pipe[1], program.inherited, parent);
  const int error = errno;
  ::close(pipe[1]);
  if (pid < 0) {
    ::close(pipe[0]);
    throw std::system_error(error, std::system_category(), "fork");
  }
  return {pid, pipe[0]};
}

LinePrefix::LinePrefix(int rank) : prefix_(fmt::format("[rank {}] ", rank)) {}

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
  std::string out = std::move(pending_);
  pending_.clear();
  if (!out.empty()) out += '\n';
  return out;
}

}  // namespace ccl_tests
