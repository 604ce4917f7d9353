// The suite's exceptions and exit codes. Every error that reaches a user is one of these; the
// program's one catch turns it into a line and an exit code.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>

namespace ccl_tests {

// Exit codes of every program and tool. 1 is never used: launchers, sanitizers and shells use it
// for their own failures.
enum class Exit : int {
  passed = 0,
  usage = 2,         // a flag or value that is not accepted
  unsupported = 3,   // a combination, feature or backend that is not available here
  failed = 4,        // a library or a peer failed
  timed_out = 5,     // a wait reached its limit
  too_slow = 6,      // slower than --min-busbw, --max-time or NCCL_TESTS_MIN_BW allow
  wrong_data = 7,    // verification failed
  inconclusive = 8,  // the measurement cannot be trusted far enough to decide
};

constexpr int exit_code(Exit e) { return static_cast<int>(e); }

// The more telling of two ranks' exit codes: 7, 5, 4, 6, 8, 3, 2, then any other non-zero code,
// then 0.
constexpr int most_severe(int a, int b) {
  for (const int code : {7, 5, 4, 6, 8, 3, 2})
    if (a == code || b == code) return code;
  return a != 0 ? a : b;
}

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, Exit code = Exit::failed)
      : std::runtime_error(what), code_(code == Exit::passed ? Exit::failed : code) {}
  // Never Exit::passed: whoever catches an Error ends with a failure.
  Exit code() const { return code_; }

 private:
  Exit code_;
};

class UsageError : public Error {
 public:
  explicit UsageError(const std::string& what) : Error(what, Exit::usage) {}
};

class Unsupported : public Error {
 public:
  explicit Unsupported(const std::string& what) : Error(what, Exit::unsupported) {}
};

class Timeout : public Error {
 public:
  explicit Timeout(const std::string& what) : Error(what, Exit::timed_out) {}
};

}  // namespace ccl_tests
