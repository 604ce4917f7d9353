// One rank's process, started by --np's supervisor.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests {

// Environment, arguments and path, in the form that execve takes; made before fork.
struct ChildProgram {
  std::string path;
  std::vector<std::string> arguments;    // argv
  std::vector<std::string> environment;  // "NAME=value"
  int inherited = -1;  // a descriptor that stays open in the child, if not below 0
};

// Returns the path of this executable. Throws std::system_error.
std::string own_path();

// Starts `program` with stdin from /dev/null and default signals, in a process group of its own;
// it is killed when this thread ends. Its stderr is the pipe at `stderr_fd` (non-blocking). Throws
// std::system_error.
struct Child {
  pid_t pid = -1;
  int stderr_fd = -1;
};
Child start_child(const ChildProgram& program);

// Puts "[rank N] " before each line of what a rank writes; whole lines leave in one write.
class LinePrefix {
 public:
  explicit LinePrefix(int rank);
  // The lines that are complete now.
  std::string add(std::string_view bytes);
  // What is left without an end of line.
  std::string rest();

 private:
  std::string prefix_, pending_;
};

}  // namespace ccl_tests
