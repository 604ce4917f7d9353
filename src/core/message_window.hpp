// Messages between the two ranks of a pair.
#pragma once

#include "src/core/communicator.hpp"

namespace ccl_tests {

// Sends call.messages messages to the pair's other rank, which answers with as many when all of them
// have come (two legs), or sends as many at the same time (one leg). Collective: ranks without a peer
// call it, too.
void exchange_windows(Communicator& communicator, const Call& call);

}  // namespace ccl_tests
