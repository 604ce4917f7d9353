// all_gatherv and alltoallv as Gloo has them.
#pragma once

#include <gloo/context.h>

#include <chrono>
#include <memory>

#include "src/core/communicator.hpp"

namespace ccl_tests::gloo_module {

// Not all blocks may be empty.
void all_gatherv(const std::shared_ptr<gloo::Context>& context, const Call& call,
                 std::chrono::milliseconds limit);

// Blocks may lie anywhere, on each rank in its own way.
void alltoallv(const std::shared_ptr<gloo::Context>& context, const Call& call,
               std::chrono::milliseconds limit);

}  // namespace ccl_tests::gloo_module
