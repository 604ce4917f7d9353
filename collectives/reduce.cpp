// reduce_perf: the root gets the reduction of all ranks' buffers. What other ranks find in theirs
// is unspecified.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

std::vector<ExpectedBlock> expected(const Shape& s) {
  if (!is_root(s)) return {};
  return {{.recv_offset = 0, .count = s.count}};
}

}  // namespace

const Collective reduce = {
    .name = "reduce",
    .reduces = true,
    .rooted = true,
    .layout = whole_replaced,
    .expected = expected,
    .bus_factor = whole,
    .run = [](Communicator& c, const Call& call) { c.reduce(call); },
};

}  // namespace ccl_tests::collectives
