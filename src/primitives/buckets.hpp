// Cuts a list of tensors into buckets, each of which becomes one operation.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "src/primitives/tensor.hpp"

namespace ccl_tests::primitives {

// Calls send(bucket) for one bucket after the other. As torch._utils._take_tensors: every type has
// a running bucket, in the order of the list; before a tensor is added that would take a bucket
// with bytes in it beyond limit_bytes, the bucket is sent, so that a tensor above the limit goes
// alone; what is left goes at the end, by the types' first appearance. room: as many tensors as the
// list has, where buckets are put together.
void take_tensors(std::span<const Tensor> tensors, std::size_t limit_bytes, std::span<Tensor> room,
                  const std::function<void(std::span<const Tensor>)>& send);

}  // namespace ccl_tests::primitives
