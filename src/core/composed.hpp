// Collectives composed of messages, for libraries that lack one, or take no such counts.
#pragma once

#include "src/core/communicator.hpp"

namespace ccl_tests::composed {

// Every rank's blocks go out in one transfer, straight between their ends. A rank's own block is a
// copy in host memory, and a message to itself in a GPU's.
void all_gather(Communicator& communicator, const Call& call);
void gather(Communicator& communicator, const Call& call);
void scatter(Communicator& communicator, const Call& call);
void alltoall(Communicator& communicator, const Call& call);
void all_gatherv(Communicator& communicator, const Call& call);
void gatherv(Communicator& communicator, const Call& call);
void scatterv(Communicator& communicator, const Call& call);
void alltoallv(Communicator& communicator, const Call& call);

// A binomial tree: ceil(log2 ranks) transfers, the same number on every rank.
void broadcast(Communicator& communicator, const Call& call);
void reduce(Communicator& communicator, const Call& call);

// A ring of ranks - 1 transfers, in which a partial result of one block travels once around.
// all_reduce: that on the ranks' shares of the buffer, then an all_gatherv of the results (Patarasuk
// and Yuan 2009). Reductions work on host memory, and throw Unsupported elsewhere.
void reduce_scatter(Communicator& communicator, const Call& call);
void reduce_scatterv(Communicator& communicator, const Call& call);
void all_reduce(Communicator& communicator, const Call& call);

// The suite's own barrier, the same for every library. Collective over `self.ranks` ranks of
// `communicator`, which has waited for all its operations and takes host memory. In round k rank r
// sends to rank r + 2^k and receives from rank r - 2^k, ceil(log2 ranks) rounds (Hensgen, Finkel,
// Manber 1988).
void dissemination_barrier(Communicator& communicator, const GroupRank& self);

// Sends call.messages messages to the other rank of a pair, which answers with as many when all of
// them have come (two legs), or sends as many at the same time (one leg). Collective: ranks without
// a peer call it, too.
void exchange_windows(Communicator& communicator, const Call& call);

}  // namespace ccl_tests::composed
