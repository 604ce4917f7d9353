// gatherv_perf: the root gets all ranks' blocks, whose lengths differ, in rank order.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {

const Collective gatherv = {
    .name = "gatherv",
    .about = "the root gets all ranks' blocks, of unequal length",
    .domain = {.rooted = true},
    .flags = {.skew = true},
    .layout = [](const Shape& s) { return gathered(s, Who::root); },
    .expected = blocks_on_root,
    .bus_factor = beyond_the_roots,
    .make = calls<&Communicator::gatherv>,
};

}  // namespace ccl_tests::collectives
