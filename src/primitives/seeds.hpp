// One random seed for all ranks.
#pragma once

#include <cstdint>

#include "src/primitives/group.hpp"

namespace ccl_tests::primitives {

// From the machine's source of randomness, 0 .. 2^31 - 1. Not collective.
std::int32_t random_seed();

// Both are collective and return rank 0's `mine`. They throw what the library throws.

// As mmengine.dist.sync_random_seed: broadcast int32[1].
std::int32_t sync_random_seed(Group& group, std::int32_t mine = random_seed());

// As detectron2.utils.comm.shared_random_seed: all_gather_object of every rank's seed, of which the
// first is taken.
std::int32_t shared_random_seed(Group& group, std::int32_t mine = random_seed());

}  // namespace ccl_tests::primitives
