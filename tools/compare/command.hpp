// Runs shell commands that write results files.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "src/core/error.hpp"
#include "src/core/signals.hpp"

namespace ccl_tests::compare {

// Flags that the tool appends to the user's commands.

// Returns whether the command says which sizes it measures: -b, -e, -f, -i, --sizes and their long
// names, or --tensors.
bool chooses_sizes(const std::string& command);

// Returns the command with " -J 'file'", and with " --sizes LIST" if `sizes` is not empty.
std::string with_flags(const std::string& command, const std::string& file,
                       const std::set<std::size_t>& sizes);

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
  // Interrupted at a signal, when no process of the command's group is left. `shown`: the command as
  // the user knows it, for the error.
  void run(const std::string& command, const std::string& shown);

 private:
  SignalPipe signals_;
};

}  // namespace ccl_tests::compare
