// gatherv_perf: the root gets all ranks' blocks, whose lengths differ, in rank order.
#include "collectives/collectives.hpp"
#include "collectives/parts.hpp"

namespace ccl_tests::collectives {

const Collective gatherv = {
    .name = "gatherv",
    .rooted = true,
    .splits = true,
    .layout = [](const Shape& s) { return gathered(s, is_root(s)); },
    .expected =
        [](const Shape& s) { return is_root(s) ? blocks_of_all(s) : std::vector<ExpectedBlock>{}; },
    .bus_factor = beyond_the_roots,
    .counts = received_parts,
    .run = [](Communicator& c, const Call& call) { c.gatherv(call); },
    .takes = {.skew = true},
};

}  // namespace ccl_tests::collectives
