// barrier_perf: nobody leaves before the last rank has entered. Moves no data: one row of size 0,
// verified by time.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {

const Collective barrier = {
    .name = "barrier",
    .synchronizes = true,
    .layout = [](const Shape&) { return Layout{}; },
    .expected = [](const Shape&) { return std::vector<ExpectedBlock>{}; },
    .bus_factor = whole,
    .run = [](Communicator& c, const Call& call) { c.barrier(call); },
};

}  // namespace ccl_tests::collectives
