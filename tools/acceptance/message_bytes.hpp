// How large messages between hosts are.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/acceptance/measurer.hpp"
#include "tools/acceptance/stages.hpp"

namespace ccl_tests::acceptance {

// Returns the plan's size, or the power of two of which about 50 fit into the time of a direction, which takes a round. On
// rank 0.
std::size_t message_bytes(Context& context);

// Returns the times of all pairs in both directions that were measured.
std::vector<double> seconds_of(const std::vector<PairTimes>& times);

}  // namespace ccl_tests::acceptance
