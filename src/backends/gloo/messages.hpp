// Operations of the suite's own over Gloo's send and recv: messages, and a ring of reduce_scatter.
#pragma once

#include <gloo/context.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "src/core/call.hpp"
#include "src/core/communicator.hpp"
#include "src/core/reduction.hpp"

namespace ccl_tests::gloo_module {

// Makes reduce_scatter as a ring over Gloo's send and recv, the suite's own: Gloo has it only as an
// old class bound to its buffers. recv = block `rank` of the combination of all ranks' send
// buffers. offsets: where each rank's block begins in them, in elements, and at last where the last
// one ends. A partial result of one block travels once around the ring, in pieces. In place (recv
// lies in send) the other blocks are overwritten by partial results. `scratch` keeps a few pieces
// between calls, and one partial result if blocks differ in size. avg and mulsum are composed by
// the caller.
void ring_reduce_scatter(gloo::Context& context, const Call& call,
                         std::span<const std::size_t> offsets, Combine combine,
                         std::vector<std::byte>& scratch, std::chrono::milliseconds limit);

// Posts all messages together, receives first, and waits for each up to `limit`. Messages of one
// pair match in the order of posting (Gloo's slots are first in, first out). A message to oneself
// is a copy, since Gloo has no connection of a rank to itself.
void transfer(gloo::Context& context, std::span<const Message> messages,
              std::chrono::milliseconds limit);

}  // namespace ccl_tests::gloo_module
