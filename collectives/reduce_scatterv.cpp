// reduce_scatterv_perf: rank r gets block r of the reduction of all ranks' buffers; the blocks'
// lengths differ.
#include <algorithm>

#include "collectives/collectives.hpp"
#include "collectives/parts.hpp"

namespace ccl::collectives {
namespace {

Layout layout(const Shape& s) {
  const Parts p(s);
  return {.send = p.all,
          .recv = p.mine,
          .call_count = p.mine,
          .column_count = block(s),
          .wire_bytes = p.all * s.type_bytes,
          .in_place = InPlace{0, p.at[rank(s)]}};
}

std::vector<Segment> expected(const Shape& s) {
  const Parts p(s);
  return {{.out = 0, .count = p.mine, .from = Segment::all_ranks, .at = p.at[rank(s)]}};
}

// The rank with the smallest block has most to contribute to the others'.
double bus_factor(const Shape& s) {
  const Parts p(s);
  return share_beyond(*std::min_element(p.counts.begin(), p.counts.end()), p.all);
}

Counts counts(const Shape& s) {
  Parts p(s);
  return {.send_counts = p.counts, .send_offsets = p.at, .recv_counts = {}, .recv_offsets = {}};
}

}  // namespace

const Collective reduce_scatterv = {
    .name = "reduce_scatterv",
    .reduces = true,
    .splits = true,
    .layout = layout,
    .expected = expected,
    .bus_factor = bus_factor,
    .counts = counts,
    .run = [](Communicator& c, const Call& call) { c.reduce_scatterv(call); },
    .takes = {.skew = true},
};

}  // namespace ccl::collectives
