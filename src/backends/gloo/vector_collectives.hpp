// all_gatherv and alltoallv as Gloo has them.
#pragma once

#include <gloo/context.h>

#include <chrono>
#include <memory>
#include <span>

#include "src/core/communicator.hpp"

namespace ccl::gloo_module {

// Whether blocks follow one another, as Gloo's vector collectives need them: they take counts only.
bool adjacent(std::span<const std::size_t> counts, std::span<const std::size_t> offsets);

// Not all blocks may be empty.
void all_gatherv(const std::shared_ptr<gloo::Context>& context, const Call& call,
                 std::chrono::milliseconds limit);

// Blocks must be adjacent.
void alltoallv(const std::shared_ptr<gloo::Context>& context, const Call& call,
               std::chrono::milliseconds limit);

}  // namespace ccl::gloo_module
