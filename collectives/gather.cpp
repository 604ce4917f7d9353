// gather_perf: the root gets all ranks' blocks, in rank order.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {

const Collective gather = {
    .name = "gather",
    .about = "the root gets all ranks' blocks",
    .domain = {.rooted = true},
    .layout = [](const Shape& s) { return received_by_root(s, all_gather.layout(s)); },
    .expected = [](const Shape& s) { return is_root(s) ? all_gather.expected(s) : nothing(s); },
    .bus_factor = others_share,
    .make = calls<&Communicator::gather>,
};

}  // namespace ccl_tests::collectives
