// Tells the user what runs while a row takes long.
#pragma once

#include <memory>
#include <string>

#include "src/job/activity.hpp"

namespace ccl_tests {

// On a terminal a status line that is wiped before it is replaced, otherwise a line every 10 s into
// `path`, or stderr if `path` is empty. Only process 0 has one. Has a thread of its own from begin() on.
class Heartbeat {
 public:
  // Silent until begin(). Throws UsageError if the file cannot be written.
  Heartbeat(const Activity& activity, const std::string& program, const std::string& path);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  void begin();
  // Wipes the status line, so that a row can be printed.
  void clear();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ccl_tests
