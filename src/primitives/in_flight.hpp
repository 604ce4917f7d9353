// Operations that are started together and waited for later.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "src/primitives/group.hpp"
#include "src/primitives/tensor.hpp"

namespace ccl_tests::primitives {

// An operation that was started. Its tensor is the library's until wait(), called once, returns.
class Handle {
 public:
  // work: null when the operation is complete.
  explicit Handle(std::unique_ptr<Work> work) : work_(std::move(work)) {}
  void wait() {
    if (work_) work_->wait();
  }

 private:
  std::unique_ptr<Work> work_;
};

// In place, collective; started in the same order by all ranks, which wait for all that they have
// started before any other operation of the group.
Handle start_all_reduce(Group& group, const Tensor& tensor, ReduceOp op);
Handle start_broadcast(Group& group, const Tensor& tensor, int src);

// Operations under way together.
class InFlight {
 public:
  explicit InFlight(Group& group) : clock_(group.step_clock()) {}
  void add(Handle handle) { handles_.push_back(std::move(handle)); }
  void wait() {
    for (Handle& handle : handles_) handle.wait();
    handles_.clear();
    clock_.payload();
  }

 private:
  StepClock clock_;
  std::vector<Handle> handles_;
};

}  // namespace ccl_tests::primitives
