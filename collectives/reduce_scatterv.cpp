// reduce_scatterv_perf: rank r gets block r of the reduction of all ranks' buffers; the blocks'
// lengths differ.
#include "collectives/collectives.hpp"
#include "collectives/parts.hpp"

namespace ccl_tests::collectives {
namespace {

std::vector<ExpectedBlock> expected(const Shape& s) {
  const Parts p(s);
  return {{.recv_offset = 0,
           .count = p.mine,
           .source_rank = ExpectedBlock::all_ranks,
           .source_offset = p.at[rank(s)]}};
}

}  // namespace

const Collective reduce_scatterv = {
    .name = "reduce_scatterv",
    .reduces = true,
    .splits = true,
    .layout = [](const Shape& s) { return scattered(s, true); },
    .expected = expected,
    .bus_factor = beyond_the_smallest,
    .counts = sent_parts,
    .run = [](Communicator& c, const Call& call) { c.reduce_scatterv(call); },
    .takes = {.skew = true},
};

}  // namespace ccl_tests::collectives
