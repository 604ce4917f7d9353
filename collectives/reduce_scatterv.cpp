// reduce_scatterv_perf: rank r gets block r of the reduction of all ranks' buffers; the blocks'
// lengths differ.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

std::vector<ExpectedBlock> expected(const Shape& s) {
  const Parts p(s);
  return reduction(p.mine, p.at[rank(s)]);
}

}  // namespace

const Collective reduce_scatterv = {
    .name = "reduce_scatterv",
    .about = "every rank gets its block, of unequal length",
    .domain = {.reduces = true},
    .flags = {.skew = true},
    .layout = [](const Shape& s) { return scattered(s, Who::all); },
    .expected = expected,
    .bus_factor = beyond_the_smallest,
    .make = calls<&Communicator::reduce_scatterv>,
};

}  // namespace ccl_tests::collectives
