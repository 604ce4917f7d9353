// scatter_perf: rank r gets block r of the root's buffer.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {

const Collective scatter = {
    .name = "scatter",
    .about = "every rank gets its block of the root's buffer",
    .domain = {.rooted = true},
    .layout = [](const Shape& s) { return sent_by_root(s, reduce_scatter.layout(s)); },
    .expected = [](const Shape& s) { return one_block(s.root, block(s), block(s) * rank(s)); },
    .bus_factor = others_share,
    .make = calls<&Communicator::scatter>,
};

}  // namespace ccl_tests::collectives
