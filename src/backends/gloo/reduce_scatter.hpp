// reduce_scatter as a ring over Gloo's send and recv. The algorithm is the suite's: Gloo has
// reduce_scatter only as an old class bound to its buffers.
#pragma once

#include <gloo/context.h>

#include <chrono>
#include <memory>
#include <vector>

#include "src/backends/reduction.hpp"
#include "src/core/communicator.hpp"

namespace ccl::gloo_module {

// recv = block `rank` of the combination of all ranks' send buffers (call.count elements per
// block). Every rank passes n - 1 partial blocks to the next one, in pieces, so a partial result of
// one block travels once around the ring. In place (recv lies in send) the other blocks are
// overwritten by partial results. `scratch` keeps a few pieces between calls. Does not scale: avg
// and mulsum are composed by the caller.
void ring_reduce_scatter(gloo::Context& context, const Call& call, Combine combine,
                         std::vector<std::byte>& scratch, std::chrono::milliseconds limit);

}  // namespace ccl::gloo_module
