// Where a run's buffers lie, decided before its ranks start.
#pragma once

#include "src/core/backend.hpp"
#include "src/options/options.hpp"
#include "src/run/rank_device.hpp"

namespace ccl {

// Opens the GPUs where the backend or --memory needs them. Throws Unsupported where this build
// cannot, Error where the machine's GPUs cannot be used or are fewer than --expect-gpus.
Placement place_buffers(const Collective& collective, const Options& options,
                        const Backend& backend);

}  // namespace ccl
