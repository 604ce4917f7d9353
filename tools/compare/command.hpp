// Runs shell commands that write results files.
#pragma once

#include <memory>
#include <string>

#include "src/core/error.hpp"

namespace ccl_tests::compare {

// SIGINT, SIGTERM or SIGHUP came. Not an std::exception: nothing but main() handles it.
struct Interrupted {
  int signal = 0;
};

// A command that did not end with 0.
class CommandFailed : public Error {
 public:
  using Error::Error;
};

// Runs commands one after the other. Blocks SIGINT, SIGTERM, SIGHUP and SIGCHLD of the calling
// thread as long as the object lives; signals that the caller ignores stay ignored.
class CommandRunner {
 public:
  CommandRunner();
  ~CommandRunner();
  CommandRunner(const CommandRunner&) = delete;
  CommandRunner& operator=(const CommandRunner&) = delete;

  // Runs `command` with /bin/sh and waits for its end. Its stdin and stdout are /dev/null. Throws
  // CommandFailed with the exit code and the last line of the command's stderr if it fails. Throws
  // Interrupted at a signal, when no process of the command's group is left.
  void run(const std::string& command);

 private:
  struct Signals;
  std::unique_ptr<Signals> signals_;
};

}  // namespace ccl_tests::compare
