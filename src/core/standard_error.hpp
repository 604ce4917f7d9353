// Lines for people on stderr.
#pragma once

#include <unistd.h>

#include <string_view>

#include "src/core/write_all.hpp"

namespace ccl_tests {

// At once, from any thread. What cannot be written is lost: a reader that is gone, or a full disk, never decides
// how a run goes on.
inline void print_error(std::string_view text) {
  static_cast<void>(write_all(STDERR_FILENO, text));
}

}  // namespace ccl_tests
