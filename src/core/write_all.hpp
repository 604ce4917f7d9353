// All of a text to a file, a pipe or a terminal.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string_view>

namespace ccl_tests {

// Waits for room. Returns errno's number, ENOSPC if nothing more is taken without a reason; 0: all
// of it was written. Only system calls: a signal's handler may use it.
inline int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ::ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// Writes to stderr at once, from any thread. What cannot be written is lost: a reader that is gone,
// or a full disk, never decides how a run goes on.
inline void print_error(std::string_view text) {
  static_cast<void>(write_all(STDERR_FILENO, text));
}

}  // namespace ccl_tests
