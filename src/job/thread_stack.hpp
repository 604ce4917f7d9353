// The functions that a thread is in: for the message of a rank that hangs.
#pragma once

#include <pthread.h>

#include <string>

namespace ccl_tests {

// Remembers the thread that makes it, and lives no longer than that thread.
class ThreadStack {
 public:
  ThreadStack();

  // Returns the functions that the thread is in, the innermost first: "poll <- MPI_Allreduce <- ...". A
  // signal interrupts it for that. Empty if it does not answer within limit_s, or if somebody else
  // uses the signal. Called on another thread of the process.
  std::string text(double limit_s) const;

 private:
  pthread_t thread_;
};

// Returns the name of a function without its namespace's decoration: no arguments, no template
// arguments. symbol: as the linker knows it.
std::string short_function_name(const char* symbol);

}  // namespace ccl_tests
