// scatter_perf: rank r gets block r of the root's buffer.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl::collectives {
namespace {

Layout layout(const Shape& s) {
  const std::size_t b = block(s);
  return {.send = is_root(s) ? b * ranks(s) : 0,
          .recv = b,
          .call_count = b,
          .column_count = b,
          .wire_bytes = b * ranks(s) * s.type_bytes,
          .in_place = InPlace{0, b * rank(s)}};
}

std::vector<Segment> expected(const Shape& s) {
  const std::size_t b = block(s);
  return {{.out = 0, .count = b, .from = s.place.root, .at = b * rank(s)}};
}

}  // namespace

const Collective scatter = {
    .name = "scatter",
    .rooted = true,
    .splits = true,
    .layout = layout,
    .expected = expected,
    .bus_factor = others_share,
    .run = [](Communicator& c, const Call& call) { c.scatter(call); },
};

}  // namespace ccl::collectives
