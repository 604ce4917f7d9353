// all_gatherv_perf: every rank gets all ranks' blocks, whose lengths differ, in rank order.
#include "collectives/collectives.hpp"
#include "collectives/parts.hpp"

namespace ccl_tests::collectives {

const Collective all_gatherv = {
    .name = "all_gatherv",
    .splits = true,
    .layout = [](const Shape& s) { return gathered(s, true); },
    .expected = blocks_of_all,
    .bus_factor = beyond_the_smallest,
    .counts = received_parts,
    .run = [](Communicator& c, const Call& call) { c.all_gatherv(call); },
    .takes = {.skew = true},
};

}  // namespace ccl_tests::collectives
