// gatherv_perf: the root gets all ranks' blocks, whose lengths differ, in rank order.
#include "collectives/collectives.hpp"
#include "collectives/parts.hpp"

namespace ccl::collectives {
namespace {

Layout layout(const Shape& s) {
  const Parts p(s);
  return {.send = p.mine,
          .recv = is_root(s) ? p.all : 0,
          .call_count = p.mine,
          .column_count = block(s),
          .wire_bytes = p.all * s.type_bytes,
          .in_place = InPlace{p.at[rank(s)], 0}};
}

double bus_factor(const Shape& s) {
  const Parts p(s);
  return share_beyond(p.counts[static_cast<std::size_t>(s.place.root)], p.all);
}

Counts counts(const Shape& s) {
  Parts p(s);
  return {.send_counts = {}, .send_offsets = {}, .recv_counts = p.counts, .recv_offsets = p.at};
}

}  // namespace

const Collective gatherv = {
    .name = "gatherv",
    .rooted = true,
    .splits = true,
    .layout = layout,
    .expected =
        [](const Shape& s) { return is_root(s) ? blocks_of_all(s) : std::vector<Segment>{}; },
    .bus_factor = bus_factor,
    .counts = counts,
    .run = [](Communicator& c, const Call& call) { c.gatherv(call); },
    .takes = {.skew = true},
};

}  // namespace ccl::collectives
