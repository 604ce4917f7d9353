// broadcast_perf: every rank gets the root's buffer.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {

const Collective broadcast = {
    .name = "broadcast",
    .about = "every rank gets the root's buffer",
    .domain = {.rooted = true},
    .layout = [](const Shape& s) { return sent_by_root(s, whole_replaced(s)); },
    .expected = [](const Shape& s) { return one_block(s.root, s.count); },
    .bus_factor = whole,
    .make = calls<&Communicator::broadcast>,
};

}  // namespace ccl_tests::collectives
