// How large messages between hosts are.
#pragma once

#include <vector>

#include "tools/acceptance/search/measurer.hpp"
#include "tools/acceptance/stages/stages.hpp"
#include "tools/acceptance/stages/team_measurer.hpp"

namespace ccl_tests::acceptance {

// Returns the plan's size, which does not grow. Without one: the power of two of which about 50 messages fit into the
// time of a direction, or a larger one if buffers on the way make such messages faster than long ones. It may grow
// until 4 messages fit. Measures a few rounds. On rank 0.
MessageSizes message_sizes(Context& context);

// Returns whether a quarter of the messages of `bytes` is faster for each byte than the long ones, which are of the same
// pairs, by half of the slowdown: a buffer on the way took them. Times that are not above 0 are missing. Pure.
bool are_buffered(const std::vector<double>& seconds, std::size_t bytes,
                  const std::vector<double>& lasting, std::size_t lasting_bytes, double slowdown);

// Returns the times of all pairs in both directions that were measured.
std::vector<double> seconds_of(const std::vector<PairTimes>& times);

}  // namespace ccl_tests::acceptance
