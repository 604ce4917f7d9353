// Lists of tensors: parameters, gradients and buffers of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "src/primitives/group.hpp"
#include "src/primitives/tensor.hpp"

namespace ccl_tests::primitives {

// Start an operation in place. Collective: all ranks start the same ones in the same order, and
// wait for all of them before any other operation of the group. The tensor is the library's until
// wait(), called once, returns.
std::unique_ptr<Work> start_all_reduce(Group& group, const Tensor& tensor, ReduceOp op);
std::unique_ptr<Work> start_broadcast(Group& group, const Tensor& tensor, int src);

// Operations under way together.
class InFlight {
 public:
  explicit InFlight(Group& group) : clock_(group.step_clock()) {}
  void add(std::unique_ptr<Work> work) { works_.push_back(std::move(work)); }
  void wait() {
    for (const auto& work : works_) work->wait();
    works_.clear();
    clock_.payload();
  }

 private:
  StepClock clock_;
  std::vector<std::unique_ptr<Work>> works_;
};

// Calls send(bucket) for one bucket after the other. As torch._utils._take_tensors: every type has
// a running bucket. A bucket with bytes in it is sent before a tensor would take it beyond
// limit_bytes; what is left goes at the end, by the types' first appearance. room: for as many
// tensors as the list.
void take_tensors(std::span<const Tensor> tensors, std::size_t limit_bytes, std::span<Tensor> room,
                  const std::function<void(std::span<const Tensor>)>& send);

// All that follow are collective and work in place. The lists must have the same length, numbers of
// elements and types, in the same order, on all ranks (check_tensors, check_parameters). They throw
// what the library throws. The average of integers truncates toward zero.

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

// Throws Error on every rank, naming who differs, if `count` is not the same on all. As the check
// of flashy.distrib: one all_reduce of int64[1], compared with ranks() times this rank's own. A
// hash of the count is summed: the sum of counts 1, 2 and 3 would look right to the rank with 2.
void check_number_of_tensors(Group& group, std::size_t count);

}  // namespace ccl_tests::primitives
