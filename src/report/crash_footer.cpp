#include "src/report/crash_footer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include "src/core/host.hpp"
#include "src/core/signals.hpp"

namespace ccl_tests {

struct CrashFooter::Shared {
  // Holds the ends that count, or the next ones while they are written.
  struct Page {
    std::size_t used = 0;
    // Each end: its Sizes, its path with a zero after it, its text.
    std::array<char, 1 << 20> bytes;
  };
  std::atomic<unsigned> current = 0;
  std::array<Page, 2> pages;

  pthread_mutex_t running;  // held by the main thread of the process

  // The doing of process 0, with a zero after it; in turns, too.
  std::atomic<unsigned> said = 0;
  std::array<std::array<char, 256>, 2> doing{};

  const Page& ends() const { return pages[current.load(std::memory_order_acquire) % 2]; }
  const char* what() const { return doing[said.load(std::memory_order_acquire) % 2].data(); }
};

namespace {

// The functions to the end of this namespace run in a copy of a process that may have had threads: only system calls.

struct Sizes {
  std::uint32_t path, text;
  std::int64_t kept;      // OutputEnd::size
  FileIdentity identity;  // OutputEnd::identity
  bool if_killed;         // OutputEnd::if_killed
};

// A reader of stdout that does not read keeps nobody: a pipe with room takes this much without a wait.
bool write_patiently(int file, std::string_view text) {
  constexpr std::size_t at_once = 4096;
  constexpr int patience_ms = 2000;
  while (!text.empty()) {
    pollfd room{file, POLLOUT, 0};
    if (::poll(&room, 1, patience_ms) <= 0) return false;
    const ::ssize_t written = ::write(file, text.data(), std::min(text.size(), at_once));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Returns the offset at which the file's last whole line ends.
::off_t end_of_lines(int file) {
  std::array<char, 4096> block{};
  ::off_t end = ::lseek(file, 0, SEEK_END);
  while (end > 0) {
    const auto bytes = std::min(end, static_cast<::off_t>(block.size()));
    if (::pread(file, block.data(), static_cast<std::size_t>(bytes), end - bytes) != bytes) break;
    for (::off_t at = bytes; at > 0; --at)
      if (block[static_cast<std::size_t>(at - 1)] == '\n') return end - bytes + at;
    end -= bytes;
  }
  return end;
}

// A text of bounded length.
class Text {
 public:
  Text& operator<<(std::string_view text) {
    for (const char c : text) put(c);
    return *this;
  }
  Text& operator<<(std::uint64_t number) {
    std::array<char, 20> digits{};
    const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  std::string_view view() const { return {bytes_.data(), used_}; }

 private:
  // Replaces characters that a file's format would have to escape.
  void put(char c) {
    const bool plain = c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '&';
    if (used_ < bytes_.size()) bytes_[used_++] = plain ? c : '?';
  }

  std::array<char, 1024> bytes_{};
  std::size_t used_ = 0;
};

// The end of process 0, as far as this process has learned it.
struct End {
  bool known = false;
  bool stopped = false;  // it was when it was last looked at
  int status = 0;        // waitpid's
};

void describe(const End& end, const char* doing, Text& how, Text& advice) {
  if (!end.known) {
    how << "process 0 ended";
    advice << "messages on stderr, the launcher's among them, say how";
  } else if (!WIFSIGNALED(end.status)) {
    how << "a library ended process 0 with exit code "
        << static_cast<std::uint64_t>(WEXITSTATUS(end.status));
    advice << "the library's message on stderr says why";
  } else {
    const int signal = WTERMSIG(end.status);
    how << (signal == SIGKILL ? "process 0 was killed by signal "
                              : "process 0 was ended by signal ")
        << static_cast<std::uint64_t>(signal) << " (SIG" << signal_name(signal) << ")";
    if (end.stopped) {
      how << " after it had been stopped";
      advice << "SIGSTOP or a debugger stopped it, and whoever waited for it ended it";
    } else if (signal == SIGKILL) {
      advice << "SIGKILL comes from the kernel (out of memory: dmesg), a batch limit or kill -9";
    } else if (signal == SIGBUS) {
      advice << "SIGBUS: a memory-mapped file has no room";
    } else {
      advice << "messages on stderr or a core file (ulimit -c unlimited) say where";
    }
  }
  constexpr std::uint64_t little = 1 << 20;
  const auto room = free_shared_memory();
  const bool bus = end.known && WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGBUS;
  if (room && (bus || *room < little))
    advice << "; /dev/shm has " << *room << " B free (docker: --shm-size)";
  if (*doing != '\0') how << " during " << doing;
  if (!end.known) how << ": how is not known";
}

constexpr std::string_view code_of_the_end = "1973214004";

// Writes a text with what stands in it for how process 0 ended.
void write_filled(int file, std::string_view text, std::string_view code, const Text& how,
                  const Text& advice) {
  while (!text.empty()) {
    std::size_t used = std::min({text.find('{', 1), text.find(code_of_the_end, 1), text.size()});
    std::string_view piece = text.substr(0, used);
    if (text.starts_with(how_process_0_ended)) {
      used = how_process_0_ended.size();
      piece = how.view();
    } else if (text.starts_with(advice_on_the_end)) {
      used = advice_on_the_end.size();
      piece = advice.view();
    } else if (text.starts_with(code_of_the_end)) {
      used = code_of_the_end.size();
      piece = code;
    }
    if (!write_patiently(file, piece)) return;
    text.remove_prefix(used);
  }
}

void write_end(const char* path, std::string_view text, const Sizes& sizes, const End& process,
               const Text& how, const Text& advice) {
  const bool killed = process.known && WIFSIGNALED(process.status);
  if (text.empty() || (sizes.if_killed && !killed)) return;
  const std::string_view code = process.stopped ? "5" : "4";
  if (*path == '\0') {
    write_filled(STDOUT_FILENO, text, code, how, advice);
    return;
  }
  const int file = ::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return;
  const ::off_t end = sizes.kept >= 0 ? static_cast<::off_t>(sizes.kept) : end_of_lines(file);
  if (has_identity(file, sizes.identity) && ::ftruncate(file, end) == 0 &&
      ::lseek(file, end, SEEK_SET) == end)
    write_filled(file, text, code, how, advice);
  ::close(file);
}

void write_ends(std::string_view ends, const End& process, const Text& how, const Text& advice) {
  while (ends.size() > sizeof(Sizes)) {
    Sizes sizes{};
    std::memcpy(&sizes, ends.data(), sizeof(sizes));
    const char* const path = ends.data() + sizeof(sizes);
    write_end(path, {path + sizes.path + 1, sizes.text}, sizes, process, how, advice);
    ends.remove_prefix(sizeof(sizes) + sizes.path + 1 + sizes.text);
  }
}

using StateLine = std::array<char, 1024>;

// Returns what /proc/PID/stat says: "PID (name) STATE ... EXIT_CODE" (proc(5)). The kernel sets the
// exit code before it closes the process's files. Empty if somebody has waited for the process.
std::string_view read_state(int file, StateLine& line) {
  const ::ssize_t bytes = ::pread(file, line.data(), line.size(), 0);
  return {line.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

bool is_stopped(std::string_view line) {
  const std::size_t name_end = line.rfind(')');
  const char state = name_end + 2 < line.size() ? line[name_end + 2] : '?';
  return state == 'T' || state == 't';
}

int exit_code_of(std::string_view line) {
  while (!line.empty() && (line.back() < '0' || line.back() > '9')) line.remove_suffix(1);
  line.remove_prefix(line.rfind(' ') + 1);
  int code = 0;
  for (const char digit : line) code = 10 * code + (digit - '0');
  return code;
}

// Waits until nobody holds the other end of `alive`, which is process 0's. Its main thread holds `running` until it ends: that is well
// before its files are closed, and long before its parent can have waited for it.
End wait_for_end(int alive, const char* state_file, pthread_mutex_t& running) {
  ::prctl(PR_SET_NAME, "ccl-last-words");
  ::setpgid(0, 0);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_BLOCK, &all, nullptr);
  constexpr int kept = STDERR_FILENO + 1;
  if (alive != kept) ::dup2(alive, kept);
#ifdef SYS_close_range
  ::syscall(SYS_close_range, static_cast<unsigned>(kept + 1), ~0U, 0U);
#endif
  const int state = ::open(state_file, O_RDONLY | O_CLOEXEC);
  StateLine line{};
  pollfd gone{kept, POLLIN, 0};
  End end;
  int locked = ETIMEDOUT;
  while (locked == ETIMEDOUT && ::poll(&gone, 1, 0) <= 0) {
    timespec look{};  // by a clock that may be set: glibc before 2.30 has no other
    ::clock_gettime(CLOCK_REALTIME, &look);
    look.tv_sec += 2;
    locked = ::pthread_mutex_timedlock(&running, &look);
    if (locked == ETIMEDOUT) end.stopped = is_stopped(read_state(state, line));
  }
  // Before its owner is dead the process has no status: a system may have no such mutexes.
  const auto learn = [&] {
    const std::string_view text = read_state(state, line);
    end.known = !text.empty();
    if (end.known) end.status = exit_code_of(text);
  };
  if (locked == EOWNERDEAD) learn();
  while (::poll(&gone, 1, -1) <= 0) {  // its other threads may still write
  }
  if (!end.known) learn();
  return end;
}

// A mutex that is free when the thread that holds it has ended, in memory that processes share.
void init_shared(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  ::pthread_mutexattr_init(&attributes);
  ::pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  ::pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  ::pthread_mutex_init(&mutex, &attributes);
  ::pthread_mutexattr_destroy(&attributes);
}

}  // namespace

CrashFooter::CrashFooter() {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return;
  const std::string state_file = "/proc/" + std::to_string(::getpid()) + "/stat";
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) {
    shared_ = new (memory) Shared;
    init_shared(shared_->running);
    ::pthread_mutex_lock(&shared_->running);
    keeper_ = ::fork();
  }
  if (keeper_ == 0) {
    ::close(pipe[1]);
    const End end = wait_for_end(pipe[0], state_file.c_str(), shared_->running);
    Text how, advice;
    describe(end, shared_->what(), how, advice);
    const Shared::Page& page = shared_->ends();
    write_ends({page.bytes.data(), page.used}, end, how, advice);
    ::_exit(0);
  }
  ::close(pipe[0]);
  alive_ = pipe[1];
  if (keeper_ > 0) {
    ::setpgid(keeper_, keeper_);  // from now on; a signal to this process's group does not mean it
    return;
  }
  ::close(std::exchange(alive_, -1));
  if (shared_ != nullptr) ::munmap(std::exchange(shared_, nullptr), sizeof(Shared));
}

CrashFooter::~CrashFooter() {
  if (shared_ == nullptr) return;
  set({});
  ::pthread_mutex_unlock(&shared_->running);
  ::close(alive_);
  ::waitpid(keeper_, nullptr, WNOHANG);
  ::munmap(shared_, sizeof(Shared));
}

void CrashFooter::doing(std::string_view what) {
  if (shared_ == nullptr) return;
  const std::lock_guard lock(doing_);
  const unsigned next = shared_->said.load(std::memory_order_relaxed) + 1;
  std::array<char, 256>& text = shared_->doing[next % 2];
  text[what.copy(text.data(), text.size() - 1)] = '\0';
  shared_->said.store(next, std::memory_order_release);
}

void CrashFooter::set(const std::vector<OutputEnd>& ends) {
  if (shared_ == nullptr) return;
  const unsigned next = shared_->current.load(std::memory_order_relaxed) + 1;
  Shared::Page& page = shared_->pages[next % 2];
  page.used = 0;
  const auto add = [&page](const void* from, std::size_t bytes) {
    std::memcpy(page.bytes.data() + page.used, from, bytes);
    page.used += bytes;
  };
  for (const auto& [path, text, size, identity, if_killed] : ends) {
    const std::size_t bytes = sizeof(Sizes) + path.size() + 1 + text.size();
    if (bytes > page.bytes.size() - page.used) break;
    const Sizes sizes{static_cast<std::uint32_t>(path.size()),
                      static_cast<std::uint32_t>(text.size()), size, identity, if_killed};
    add(&sizes, sizeof(sizes));
    add(path.c_str(), path.size() + 1);
    add(text.data(), text.size());
  }
  shared_->current.store(next, std::memory_order_release);
}

}  // namespace ccl_tests
