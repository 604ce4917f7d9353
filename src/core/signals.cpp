#include "src/core/signals.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <thread>

namespace ccl_tests {
namespace {

// The handlers' knowledge: a signal belongs to the process.
struct Target {
  std::atomic<int> pipe = -1;
  std::atomic<pid_t> process = 0;  // a forked child has the handlers, too, until it calls exec
  std::atomic<int> running = 0;    // handlers that may still write
};

constinit Target target;
static_assert(std::atomic<int>::is_always_lock_free);

void write_number(int pipe, int signal) {
  const auto byte = static_cast<unsigned char>(signal);
  [[maybe_unused]] const ::ssize_t written = ::write(pipe, &byte, 1);  // full: enough are waiting
}

void on_signal(int signal) {
  const int error = errno;
  ++target.running;
  const int pipe = target.pipe;
  if (pipe >= 0 && ::getpid() == target.process) write_number(pipe, signal);
  --target.running;
  errno = error;
}

// Returns after the last handler that may know the former pipe.
void switch_to(int pipe) {
  target.process = ::getpid();
  target.pipe = pipe;
  while (target.running > 0) std::this_thread::yield();
}

struct sigaction handler() {
  struct sigaction ours {};
  ours.sa_handler = on_signal;
  sigfillset(&ours.sa_mask);
  ours.sa_flags = SA_RESTART | SA_ONSTACK;
  return ours;
}

bool is_default(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL;
}

}  // namespace

const char* signal_name(int signal) {
  struct Name {
    int signal;
    const char* name;
  };
  static constexpr std::array names = {
      Name{SIGHUP, "HUP"},       Name{SIGINT, "INT"},       Name{SIGQUIT, "QUIT"},
      Name{SIGILL, "ILL"},       Name{SIGTRAP, "TRAP"},     Name{SIGABRT, "ABRT"},
      Name{SIGBUS, "BUS"},       Name{SIGFPE, "FPE"},       Name{SIGKILL, "KILL"},
      Name{SIGUSR1, "USR1"},     Name{SIGSEGV, "SEGV"},     Name{SIGUSR2, "USR2"},
      Name{SIGPIPE, "PIPE"},     Name{SIGALRM, "ALRM"},     Name{SIGTERM, "TERM"},
      Name{SIGSTKFLT, "STKFLT"}, Name{SIGCHLD, "CHLD"},     Name{SIGCONT, "CONT"},
      Name{SIGSTOP, "STOP"},     Name{SIGTSTP, "TSTP"},     Name{SIGTTIN, "TTIN"},
      Name{SIGTTOU, "TTOU"},     Name{SIGURG, "URG"},       Name{SIGXCPU, "XCPU"},
      Name{SIGXFSZ, "XFSZ"},     Name{SIGVTALRM, "VTALRM"}, Name{SIGPROF, "PROF"},
      Name{SIGWINCH, "WINCH"},   Name{SIGPOLL, "POLL"},     Name{SIGPWR, "PWR"},
      Name{SIGSYS, "SYS"}};
  for (const Name& one : names)
    if (one.signal == signal) return one.name;
  return "?";
}

std::vector<int> ending_signals() {
  std::vector<int> signals = {SIGINT, SIGTERM};
  if (!is_ignored(SIGHUP)) signals.push_back(SIGHUP);
  for (const int signal : {SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU})
    if (is_default(signal)) signals.push_back(signal);
  return signals;
}

SignalPipe::SignalPipe(const std::vector<int>& signals) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
    throw std::system_error(errno, std::system_category(), "pipe");
  read_end_ = ends[0];
  write_end_ = ends[1];
  outer_ = target.pipe;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask_before_);
  switch_to(write_end_);
  const struct sigaction ours = handler();
  for (const int signal : signals) {
    struct sigaction before {};
    if (::sigaction(signal, &ours, &before) == 0) before_.emplace_back(signal, before);
  }
}

SignalPipe::~SignalPipe() {
  for (const auto& [signal, before] : before_) ::sigaction(signal, &before, nullptr);
  switch_to(outer_);
  ::pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  ::close(write_end_);
  ::close(read_end_);
}

int SignalPipe::next() const {
  unsigned char byte = 0;
  for (;;) {
    const ::ssize_t got = ::read(read_end_, &byte, 1);
    if (got == 1) return byte;
    if (got < 0 && errno == EINTR) continue;
    return 0;
  }
}

int SignalPipe::wait() const {
  pollfd readable{read_end_, POLLIN, 0};
  while (::poll(&readable, 1, -1) <= 0) {
  }
  return next();
}

void SignalPipe::wake() const { write_number(write_end_, 0); }

void SignalPipe::take_back() const {
  const struct sigaction ours = handler();
  for (const auto& [signal, before] : before_) {
    if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
      ::sigaction(signal, &ours, nullptr);
  }
}

void SignalPipe::mask(int how) const {
  sigset_t set;
  sigemptyset(&set);
  for (const auto& [signal, before] : before_) sigaddset(&set, signal);
  ::pthread_sigmask(how, &set, nullptr);
}

}  // namespace ccl_tests
