// Lists of tensors: parameters, gradients and buffers of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "src/primitives/group.hpp"
#include "src/primitives/tensor.hpp"

namespace ccl_tests::primitives {

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
