// reduce_perf: the root gets the reduction of all ranks' buffers. The results of other ranks are
// unspecified.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {

const Collective reduce = {
    .name = "reduce",
    .about = "the root gets the reduction of all ranks' buffers",
    .domain = {.reduces = true, .rooted = true},
    .layout = whole_replaced,
    .expected = [](const Shape& s) { return is_root(s) ? whole_reduced(s) : nothing(s); },
    .bus_factor = whole,
    .make = calls<&Communicator::reduce>,
};

}  // namespace ccl_tests::collectives
