#include "src/job/standard_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "src/core/error.hpp"

namespace ccl_tests {

void reserve_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(file, F_GETFD) != -1) continue;
    // The lowest number that is free, which is this one.
    static_cast<void>(::open("/dev/null", file == STDERR_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void require_printed() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw Error("cannot write to standard output");
}

}  // namespace ccl_tests
