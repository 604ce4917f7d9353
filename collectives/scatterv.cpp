// scatterv_perf: rank r gets block r of the root's buffer; the blocks' lengths differ.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

std::vector<ExpectedBlock> expected(const Shape& s) {
  const Parts p(s);
  return one_block(s.root, p.mine, p.at[rank(s)]);
}

}  // namespace

const Collective scatterv = {
    .name = "scatterv",
    .about = "every rank gets its block, of unequal length",
    .domain = {.rooted = true},
    .flags = {.skew = true},
    .layout = [](const Shape& s) { return scattered(s, Who::root); },
    .expected = expected,
    .bus_factor = beyond_the_roots,
    .make = calls<&Communicator::scatterv>,
};

}  // namespace ccl_tests::collectives
