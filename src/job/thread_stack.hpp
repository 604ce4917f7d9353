// The stacks of threads, and of ranks that hang.
#pragma once

#include <pthread.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ccl_tests {

// Returns the functions that another thread of this process is in, the innermost first: "poll <-
// MPI_Allreduce <- ...". A signal interrupts it for that. Empty if it does not answer within limit_s,
// or if somebody else uses the signal.
std::string stack_of(pthread_t thread, double limit_s);

// Returns the name of a function without its namespace's decoration: no arguments, no template
// arguments. symbol: as the linker knows it.
std::string short_function_name(const char* symbol);

// The functions that the ranks of a process are in, for the message that one of them hangs.
class RankStacks {
 public:
  explicit RankStacks(int ranks);

  // Both on the rank's own thread.
  void begin(int rank);
  void end(int rank);

  // Returns stack_of() of each rank that has begun and not ended, and answers; within
  // about limit_s seconds, whatever they hang in. Throws Unsupported where no thread can be started.
  std::vector<std::pair<int, std::string>> texts(double limit_s) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ccl_tests
