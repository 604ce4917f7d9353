// The functions that the ranks of a process are in, for the message that one of them hangs.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ccl_tests {

class RankStacks {
 public:
  explicit RankStacks(int ranks);
  ~RankStacks();
  RankStacks(const RankStacks&) = delete;
  RankStacks& operator=(const RankStacks&) = delete;

  // Both on the rank's own thread.
  void begin(int rank);
  void end(int rank);

  // Returns the stack (ThreadStack) of each rank that has begun and not ended, and answers; within
  // about limit_s seconds, whatever they hang in. Throws Unsupported where no thread can be started.
  std::vector<std::pair<int, std::string>> texts(double limit_s) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace ccl_tests
