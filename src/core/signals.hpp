// The signals that end a run, as bytes of a pipe.
#pragma once

#include <atomic>
#include <csignal>
#include <utility>
#include <vector>

namespace ccl_tests {

// Returns whether the parent wants this process to ignore the signal, as nohup does with SIGHUP.
inline bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// Returns the signal's name without SIG, "KILL", or "?" if it has none. A signal handler may call
// this. glibc before 2.32 has no sigabbrev_np().
const char* signal_name(int signal);

// Returns the signals by which a person, a terminal or a batch system ends a run: SIGINT, SIGTERM;
// SIGHUP unless ignored; SIGQUIT, SIGUSR1, SIGUSR2 and SIGXCPU if nobody ignores or handles them.
// Slurm, LSF and Grid Engine announce the end of a job by the last three.
std::vector<int> ending_signals();

// Returns whether a second signal of this number says that the run is to end at once: a person lost
// patience. Others are sent more than once for one reason: SIGXCPU each second, SIGHUP by a shell.
inline bool is_urgent_again(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGQUIT;
}

// Catches signals of this process while it lives. A mask cannot: the kernel hands a signal to any
// thread that does not block it, and a library's thread (CUDA's driver has one) may block none. So
// a handler writes the number to a pipe. A signal that all threads block is pending: the thread
// that reads the pipe calls unblock(). A second object takes over until it is gone.
class SignalPipe {
 public:
  // Throws std::system_error.
  explicit SignalPipe(const std::vector<int>& signals = ending_signals());
  ~SignalPipe();
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  // Returns a descriptor that can be read once a signal has come.
  int fd() const { return read_end_; }
  // Returns the next signal that has come; 0: none has.
  int next() const;
  // Waits for the next signal, or for wake(), and returns its number; 0: wake() was called.
  int wait() const;
  void wake() const;

  // unblock() has this thread take signals that others block; block() leaves it, and those that it
  // starts, alone: no signal cuts a library's system call short then.
  void unblock() const { mask(SIG_UNBLOCK); }
  void block() const { mask(SIG_BLOCK); }

  // Takes SIGINT, SIGTERM and SIGHUP back from a library that handles them, as UCX does SIGHUP.
  void take_back() const;

 private:
  void mask(int how) const;

  int read_end_ = -1, write_end_ = -1;
  int outer_ = -1;  // the pipe of the object that this one takes over from
  std::vector<std::pair<int, struct sigaction>> before_;
  sigset_t mask_before_{};
};

}  // namespace ccl_tests
