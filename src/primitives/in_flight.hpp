// Operations that are started together and waited for later.
#pragma once

#include <vector>

#include "src/primitives/group.hpp"
#include "src/primitives/tensor.hpp"

namespace ccl::primitives {

// An operation that was started. Its tensor is the library's until wait() returns.
class Handle {
 public:
  explicit Handle(Communicator& communicator) : communicator_(&communicator) {}
  void wait() { communicator_->wait(); }

 private:
  Communicator* communicator_;
};

// In place, collective; started in the same order by all ranks.
Handle start_all_reduce(Group& group, const Tensor& tensor, ReduceOp op);
Handle start_broadcast(Group& group, const Tensor& tensor, int src);

// Operations under way together.
class InFlight {
 public:
  explicit InFlight(Group& group) : clock_(group.step_clock()) {}
  void add(Handle handle) { handles_.push_back(handle); }
  void wait() {
    for (Handle& handle : handles_) handle.wait();
    handles_.clear();
    clock_.payload();
  }

 private:
  StepClock clock_;
  std::vector<Handle> handles_;
};

}  // namespace ccl::primitives
