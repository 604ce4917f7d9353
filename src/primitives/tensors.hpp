// Lists of tensors: parameters, gradients and buffers of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "src/primitives/group.hpp"
#include "src/primitives/tensor.hpp"

namespace ccl_tests::primitives {

// Operations that are started together and waited for later.

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

// All are collective and work in place. The lists must have the same length, numbers of elements
// and types, in the same order, on all ranks (check_tensors, check_parameters). They throw what the
// library throws. The average of integers truncates toward zero.

// Every tensor replaced by its reduction over all ranks. As mmengine.dist.all_reduce_params: with
// coalesce, one all_reduce for each bucket of at most bucket_bytes (see take_tensors), of a copy
// where a bucket has more than one tensor; bucket_bytes <= 0: one bucket for each type. Without:
// one all_reduce for each tensor.
void all_reduce_params(Group& group, std::span<const Tensor> tensors, bool coalesce = true,
                       std::int64_t bucket_bytes = -1, ReduceOp op = ReduceOp::sum);

// Every floating-point tensor replaced by rank src's; others stay. As
// flashy.distrib.broadcast_tensors: one broadcast each, all started, then waited for.
void broadcast_tensors(Group& group, std::span<const Tensor> tensors, int src = 0);

enum class BufferSync { average, broadcast };

// Every floating-point buffer averaged over all ranks, or replaced by rank 0's; others stay. As
// flashy.distrib.sync_buffer: one operation each, all started, then waited for.
void sync_buffer(Group& group, std::span<const Tensor> buffers,
                 BufferSync how = BufferSync::average);

// Every gradient averaged over all ranks; parameters without one are skipped. As
// flashy.distrib.sync_grad: one all_reduce each, all started, then waited for and divided.
void sync_grad(Group& group, std::span<const Parameter> parameters);

// Throws Error on every rank, naming who differs, when `count` is not the same on all. As the check
// of flashy.distrib: one all_reduce of int64[1], compared with ranks() times this rank's own. What
// is summed is a hash of the count: with the count itself, rank 1 of those with 1, 2 and 3 tensors
// would find nothing wrong and go on alone. Who it was is asked over the control plane.
void check_number_of_tensors(Group& group, std::size_t count);

}  // namespace ccl_tests::primitives
