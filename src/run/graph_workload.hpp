// A block of calls that is captured once and launched as a whole (-G).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "src/run/operation_workload.hpp"

namespace ccl_tests {

class Communicator;

// The first launch, on fresh buffers, is not timed but checked. The results that the last timed one
// leaves behind are checked if launching again gives the same.
class GraphWorkload : public Workload {
 public:
  // All must outlive it. A block's timed calls are what one launch makes. meet: of all ranks, between
  // making a graph, which takes memory and so may wait for peers, and its first launch.
  GraphWorkload(OperationWorkload& calls, Communicator& communicator, std::size_t launches,
                const std::function<void()>& meet)
      : calls_(calls), communicator_(communicator), launches_(launches), meet_(meet) {}

  Samples make(const SingleCalls& plan) override { return calls_.make(plan); }
  void prepare(const BlockPlan& plan) override;
  void issue(std::size_t first, std::size_t calls) override;
  void begin() override { calls_.start_counting(); }
  void wait() override { calls_.wait(); }
  void verify() override;

 private:
  OperationWorkload& calls_;
  Communicator& communicator_;
  std::size_t launches_;
  const std::function<void()>& meet_;
  std::size_t calls_of_launch_ = 0;
  std::unique_ptr<Graph> graph_;
};

}  // namespace ccl_tests
