// The time that no algorithm can beat, given a link's latency and bandwidth. Pure.
#pragma once

#include <optional>

#include "src/core/collective.hpp"

namespace ccl_tests {

// The latency and bandwidth of a link between two ranks in one direction.
struct Ceiling {
  double gb_per_s = 0;              // 1e9 bytes
  std::optional<double> latency_s;  // of the shortest message; nullopt: not known
};

// Returns the rounds of messages that a call needs at least if a rank sends and receives one message
// a round: ceil(log2 ranks) if the results of a rank depend on more than one other rank or one rank's
// input reaches more than one other; else 1. 0 if calls or messages of a stream overlap: of a rooted
// collective, and of a pair with a window.
int least_rounds(const Collective& collective, const CollectiveOptions& options, int ranks);

// Returns the larger of the time that the rounds take and the time that the bytes take at the busiest
// port of the group (size times bus factor), in seconds.
double lower_bound(const Ceiling& ceiling, int rounds, double port_bytes);

}  // namespace ccl_tests
