// The collectives that Gloo lacks or does slowly: those of unequal blocks, and a ring of reduce_scatter.
#pragma once

#include <gloo/context.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "src/core/communicator.hpp"
#include "src/core/reduction.hpp"

namespace ccl_tests::gloo_module {

// Not all blocks may be empty.
void all_gatherv(const std::shared_ptr<gloo::Context>& context, const Call& call,
                 std::chrono::milliseconds limit);

// Blocks may lie anywhere, on each rank in its own way.
void alltoallv(const std::shared_ptr<gloo::Context>& context, const Call& call,
               std::chrono::milliseconds limit);

// reduce_scatter as a ring over Gloo's send and recv. The algorithm is the suite's: Gloo has
// reduce_scatter only as an old class bound to its buffers.

// recv = block `rank` of the combination of all ranks' send buffers. offsets: where each rank's
// block begins in them, in elements, and behind the last where it ends; the same on all ranks.
// Every rank passes n - 1 partial blocks to the next one, in pieces, so a partial result of one
// block travels once around the ring. In place (recv lies in send) the other blocks are overwritten
// by partial results. `scratch` keeps a few pieces between calls, and where blocks differ in size
// one partial result. Does not scale: avg and mulsum are composed by the caller.
void ring_reduce_scatter(gloo::Context& context, const Call& call,
                         std::span<const std::size_t> offsets, Combine combine,
                         std::vector<std::byte>& scratch, std::chrono::milliseconds limit);

}  // namespace ccl_tests::gloo_module
