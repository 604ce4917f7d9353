// broadcast_perf: every rank gets the root's buffer.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl::collectives {
namespace {

Layout layout(const Shape& s) {
  return {.send = is_root(s) ? s.count : 0,
          .recv = s.count,
          .call_count = s.count,
          .column_count = s.count,
          .wire_bytes = s.count * s.type_bytes,
          .in_place = InPlace{0, 0}};
}

std::vector<Segment> expected(const Shape& s) {
  return {{.out = 0, .count = s.count, .from = s.place.root, .at = 0}};
}

}  // namespace

const Collective broadcast = {
    .name = "broadcast",
    .rooted = true,
    .layout = layout,
    .expected = expected,
    .bus_factor = whole,
    .run = [](Communicator& c, const Call& call) { c.broadcast(call); },
};

}  // namespace ccl::collectives
