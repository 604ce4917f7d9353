// Processes that this one starts and waits for: the ranks of --np, a monitored program, a command of ccl_compare.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests {

// Environment, arguments and path, in the form that execve takes; made before fork.
struct ChildProgram {
  std::string path;
  std::vector<std::string> arguments;         // argv
  std::vector<std::string> environment = {};  // "NAME=value"; empty: that of this process
  int inherited = -1;  // a descriptor that stays open in the child, if not below 0
};

// Returns the path of this executable. Throws std::system_error.
std::string own_path();

// The end of a process.
struct ChildStatus {
  int code = 0;       // as shells count: the exit code, or 128 + the signal's number
  int signal = 0;     // that ended it; 0: none did
  bool known = true;  // false: `code` is a guess, because a library's thread waited for the process
};

inline constexpr std::string_view unknown_end =
    "ended, but its exit code is not known: a library waited for it or ignores SIGCHLD";

// A process that runs, or has ended and is not waited for yet. It is known by a descriptor
// (pidfd_open, Linux 5.3) or, where the kernel has none, asked again and again; never by SIGCHLD,
// which the kernel may hand to a thread of a library that drops it.
class Child {
 public:
  Child(pid_t pid, int stderr_fd);
  ~Child();  // does not end the process
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) = delete;

  pid_t pid() const { return pid_; }

  // Returns how the process ended; nullopt: it runs. A process that ended stays a zombie as long as this
  // object lives, so that its number means nobody else.
  std::optional<ChildStatus> status();
  // Waits until it ends.
  ChildStatus wait();
  // Sends a signal, unless the process has ended.
  void signal(int number);

  // Returns the pipe that its stderr is, which does not block; -1: closed.
  int stderr_fd() const { return stderr_fd_; }
  void close_stderr();

  // Returns what poll() can wait for: the end of the process, and something on its stderr.
  pollfd end_event() const { return {status_ ? -1 : end_fd_, POLLIN, 0}; }
  pollfd stderr_event() const { return {stderr_fd_, POLLIN, 0}; }
  // Returns after how many milliseconds poll() is to return for status() to be asked: -1 (never) or wait_ms, and sooner if
  // poll() cannot wait for the end.
  int poll_limit(int wait_ms) const;

 private:
  pid_t pid_ = -1;
  int stderr_fd_ = -1;
  int end_fd_ = -1;
  std::optional<ChildStatus> status_;
};

// Starts `program` with stdin from /dev/null, in a process group of its own; it is killed when this thread ends. It
// has default signals, but what this process was told to ignore stays ignored, and SIGTTOU is. Its stderr is a
// pipe. Throws std::system_error.
Child start_child(const ChildProgram& program);

// Puts "[rank N] " before each line of what a rank writes; whole lines leave in one write.
class LinePrefix {
 public:
  explicit LinePrefix(int rank) : prefix_("[rank " + std::to_string(rank) + "] ") {}
  std::string add(std::string_view bytes);  // returns the lines that are complete now
  std::string rest();                       // returns what is left without an end of line

 private:
  std::string prefix_, pending_;
};

}  // namespace ccl_tests
