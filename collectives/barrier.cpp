// barrier_perf: no rank leaves before the last rank has entered. A barrier moves no data: there is
// one row of size 0, verified by time.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {

const Collective barrier = {
    .name = "barrier",
    .about = "nobody leaves before the last rank has entered",
    .layout = [](const Shape& /*s*/) { return Layout{}; },
    .expected = nothing,
    .bus_factor = whole,
    .make = calls<&Communicator::barrier>,
    .needs = {.synchronizes = true},
};

}  // namespace ccl_tests::collectives
