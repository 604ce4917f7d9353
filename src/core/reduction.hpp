// Element-wise reductions for modules whose library has none for a type or an operation.
#pragma once

#include <cstddef>
#include <span>

#include "src/core/call.hpp"

namespace ccl_tests {

// out[i] = a[i] op b[i] for i < count; out may be a or b. min and max of a NaN are NaN. avg and mulsum combine as sum does. Small
// floating-point types are computed in float and rounded to nearest even once (right for +, *, min
// and max: float has more than 2p + 2 bits). Throws Unsupported where op is not one of
// ops_of(type).
using Combine = void (*)(void* out, const void* a, const void* b, std::size_t count);
Combine combine_function(DataType type, ReduceOp op);

// Combines `value` into `target`, element by element: target = target op value. Both hold equally
// many elements of `type`.
void reduce(ReduceOp op, DataType type, std::span<std::byte> target,
            std::span<const std::byte> value);

// out[i] = in[i] x factor; out may be in.
void multiply(DataType type, void* out, const void* in, std::size_t count, int factor);

// data[i] /= divisor, integers truncating toward zero.
void divide(DataType type, void* data, std::size_t count, int divisor);

// Operations that a library lacks, composed around its sum. Before it: what to send, which is this
// rank's products with mulsum_scalar, written to `into`, for mulsum, else call.send. After it:
// `data` divided by the number of ranks for avg.
inline const void* premultiplied(const Call& call, std::size_t count, void* into) {
  if (call.op != ReduceOp::mulsum || mulsum_scalar(call.self.rank) == 1) return call.send;
  multiply(call.type, into, call.send, count, mulsum_scalar(call.self.rank));
  return into;
}
inline void divided(const Call& call, void* data, std::size_t count) {
  if (call.op == ReduceOp::avg) divide(call.type, data, count, call.self.ranks);
}

}  // namespace ccl_tests
