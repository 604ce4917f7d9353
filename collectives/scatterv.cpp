// scatterv_perf: rank r gets block r of the root's buffer; the blocks' lengths differ.
#include "collectives/collectives.hpp"
#include "collectives/parts.hpp"

namespace ccl::collectives {
namespace {

Layout layout(const Shape& s) {
  const Parts p(s);
  return {.send = is_root(s) ? p.all : 0,
          .recv = p.mine,
          .call_count = p.mine,
          .column_count = block(s),
          .wire_bytes = p.all * s.type_bytes,
          .in_place = InPlace{0, p.at[rank(s)]}};
}

std::vector<Segment> expected(const Shape& s) {
  const Parts p(s);
  return {{.out = 0, .count = p.mine, .from = s.place.root, .at = p.at[rank(s)]}};
}

double bus_factor(const Shape& s) {
  const Parts p(s);
  return share_beyond(p.counts[static_cast<std::size_t>(s.place.root)], p.all);
}

Counts counts(const Shape& s) {
  Parts p(s);
  return {.send_counts = p.counts, .send_offsets = p.at, .recv_counts = {}, .recv_offsets = {}};
}

}  // namespace

const Collective scatterv = {
    .name = "scatterv",
    .rooted = true,
    .splits = true,
    .layout = layout,
    .expected = expected,
    .bus_factor = bus_factor,
    .counts = counts,
    .run = [](Communicator& c, const Call& call) { c.scatterv(call); },
    .takes = {.skew = true},
};

}  // namespace ccl::collectives
