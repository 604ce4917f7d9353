// all_gatherv_perf: every rank gets all ranks' blocks, whose lengths differ, in rank order.
#include <algorithm>

#include "collectives/collectives.hpp"
#include "collectives/parts.hpp"

namespace ccl::collectives {
namespace {

Layout layout(const Shape& s) {
  const Parts p(s);
  return {.send = p.mine,
          .recv = p.all,
          .call_count = p.mine,
          .column_count = block(s),
          .wire_bytes = p.all * s.type_bytes,
          .in_place = InPlace{p.at[rank(s)], 0}};
}

// The rank with the smallest block receives most.
double bus_factor(const Shape& s) {
  const Parts p(s);
  return share_beyond(*std::min_element(p.counts.begin(), p.counts.end()), p.all);
}

Counts counts(const Shape& s) {
  Parts p(s);
  return {.send_counts = {}, .send_offsets = {}, .recv_counts = p.counts, .recv_offsets = p.at};
}

}  // namespace

const Collective all_gatherv = {
    .name = "all_gatherv",
    .splits = true,
    .layout = layout,
    .expected = blocks_of_all,
    .bus_factor = bus_factor,
    .counts = counts,
    .run = [](Communicator& c, const Call& call) { c.all_gatherv(call); },
    .takes = {.skew = true},
};

}  // namespace ccl::collectives
