#include "src/report/last_words.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace ccl_tests {

// Of the words that count, and of the next ones while they are written.
struct LastWords::Shared {
  struct Page {
    std::size_t used = 0;
    std::array<char, 1 << 20>
        bytes;  // of each word two sizes, its path with a zero behind it, its text
  };
  std::atomic<unsigned> current = 0;
  std::array<Page, 2> pages;

  const Page& words() const { return pages[current.load(std::memory_order_acquire) % 2]; }
};

namespace {

// All that follows, to the end of this namespace, runs in a copy of a process that may have had threads: only system calls.

struct Sizes {
  std::uint32_t path, text;
  std::int64_t kept;  // LastWord::size
};

// A reader of stdout that does not read keeps nobody: a pipe with room takes this much without a wait.
bool write_all(int file, std::string_view text) {
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

// Where the file's last whole line ends.
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

void write_word(const char* path, std::string_view text, std::int64_t kept) {
  if (text.empty()) return;
  if (*path == '\0') {
    write_all(STDOUT_FILENO, text);
    return;
  }
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  const ::off_t end = kept >= 0 ? static_cast<::off_t>(kept) : end_of_lines(file);
  if (::ftruncate(file, end) == 0 && ::lseek(file, end, SEEK_SET) == end) write_all(file, text);
  ::close(file);
}

void write_words(std::string_view words) {
  while (words.size() > sizeof(Sizes)) {
    Sizes sizes{};
    std::memcpy(&sizes, words.data(), sizeof(sizes));
    const char* const path = words.data() + sizeof(sizes);
    write_word(path, {path + sizes.path + 1, sizes.text}, sizes.kept);
    words.remove_prefix(sizeof(sizes) + sizes.path + 1 + sizes.text);
  }
}

// Waits until nobody holds the other end of `alive`.
void wait_for_end(int alive) {
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
  char byte = 0;
  while (::read(kept, &byte, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace

LastWords::LastWords() {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return;
  void* const memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) {
    shared_ = new (memory) Shared;
    keeper_ = ::fork();
  }
  if (keeper_ == 0) {
    ::close(pipe[1]);
    wait_for_end(pipe[0]);
    const Shared::Page& page = shared_->words();
    write_words({page.bytes.data(), page.used});
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

LastWords::~LastWords() {
  if (shared_ == nullptr) return;
  leave({});
  ::close(alive_);
  ::waitpid(keeper_, nullptr, WNOHANG);
  ::munmap(shared_, sizeof(Shared));
}

void LastWords::leave(const std::vector<LastWord>& words) {
  if (shared_ == nullptr) return;
  const unsigned next = shared_->current.load(std::memory_order_relaxed) + 1;
  Shared::Page& page = shared_->pages[next % 2];
  page.used = 0;
  const auto add = [&page](const void* from, std::size_t bytes) {
    std::memcpy(page.bytes.data() + page.used, from, bytes);
    page.used += bytes;
  };
  for (const auto& [path, text, size] : words) {
    const std::size_t bytes = sizeof(Sizes) + path.size() + 1 + text.size();
    if (bytes > page.bytes.size() - page.used) break;
    const Sizes sizes{static_cast<std::uint32_t>(path.size()),
                      static_cast<std::uint32_t>(text.size()), size};
    add(&sizes, sizeof(sizes));
    add(path.c_str(), path.size() + 1);
    add(text.data(), text.size());
  }
  shared_->current.store(next, std::memory_order_release);
}

}  // namespace ccl_tests
