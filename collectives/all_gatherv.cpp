// all_gatherv_perf: every rank gets all ranks' blocks, whose lengths differ, in rank order.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {

const Collective all_gatherv = {
    .name = "all_gatherv",
    .about = "every rank gets all ranks' blocks, of unequal length",
    .flags = {.skew = true},
    .layout = [](const Shape& s) { return gathered(s, Who::all); },
    .expected = blocks_of_all,
    .bus_factor = beyond_the_smallest,
    .make = calls<&Communicator::all_gatherv>,
};

}  // namespace ccl_tests::collectives
