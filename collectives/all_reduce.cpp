// all_reduce_perf: every rank gets the reduction of all ranks' buffers.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {

const Collective all_reduce = {
    .name = "all_reduce",
    .about = "every rank gets the reduction of all ranks' buffers",
    .domain = {.reduces = true},
    .layout = whole_replaced,
    .expected = whole_reduced,
    .bus_factor = reduced_and_gathered,
    .make = calls<&Communicator::all_reduce>,
};

}  // namespace ccl_tests::collectives
