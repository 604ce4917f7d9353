// Vector collectives composed of send and recv, for libraries that lack one, or take no such
// counts.
#pragma once

#include "src/core/communicator.hpp"

namespace ccl_tests::composed {

// Every rank's blocks go out in one group of messages, straight between their ends; a rank's own
// block is a copy.
void all_gatherv(Communicator& communicator, const Call& call);
void gatherv(Communicator& communicator, const Call& call);
void scatterv(Communicator& communicator, const Call& call);
void alltoallv(Communicator& communicator, const Call& call);

}  // namespace ccl_tests::composed
