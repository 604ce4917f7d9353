// The suite's own barrier, the same for every library: dissemination over point-to-point messages.
#pragma once

#include "src/core/communicator.hpp"

namespace ccl_tests {

// Collective over `self.ranks` ranks of `communicator`, which has waited for all its operations
// and takes host memory. In round k rank r tells rank r + 2^k and hears from rank r - 2^k; after
// ceil(log2 ranks) rounds everybody has heard of everybody (Hensgen, Finkel, Manber 1988).
void dissemination_barrier(Communicator& communicator, const GroupRank& self);

}  // namespace ccl_tests
