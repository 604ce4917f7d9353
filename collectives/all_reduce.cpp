// all_reduce_perf: every rank gets the reduction of all ranks' buffers.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

std::vector<ExpectedBlock> expected(const Shape& s) {
  return {{.recv_offset = 0, .count = s.count}};
}

}  // namespace

const Collective all_reduce = {
    .name = "all_reduce",
    .reduces = true,
    .layout = whole_replaced,
    .expected = expected,
    .bus_factor = reduced_and_gathered,
    .run = [](Communicator& c, const Call& call) { c.all_reduce(call); },
};

}  // namespace ccl_tests::collectives
