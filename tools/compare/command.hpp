// Runs shell commands that write results files.
#pragma once

#include <string>

#include "src/core/error.hpp"
#include "src/core/signals.hpp"

namespace ccl_tests::compare {

// One of ending_signals() came. Not an std::exception: nothing but main() handles it.
struct Interrupted {
  int signal = 0;
};

// A command that did not end with 0.
class CommandFailed : public Error {
 public:
  using Error::Error;
};

// Runs commands one after the other. Takes ending_signals() as long as the object lives.
class CommandRunner {
 public:
  // Runs `command` with /bin/sh and waits for its end. Its stdin and stdout are /dev/null. Throws
  // CommandFailed with the exit code and the last line of the command's stderr if it fails. Throws
  // Interrupted at a signal, when no process of the command's group is left.
  void run(const std::string& command);

 private:
  SignalPipe signals_;
};

}  // namespace ccl_tests::compare
