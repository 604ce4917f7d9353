// gather_perf: the root gets all ranks' blocks, in rank order.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl::collectives {
namespace {

Layout layout(const Shape& s) {
  const std::size_t b = block(s);
  return {.send = b,
          .recv = is_root(s) ? b * ranks(s) : 0,
          .call_count = b,
          .column_count = b,
          .wire_bytes = b * ranks(s) * s.type_bytes,
          .in_place = InPlace{b * rank(s), 0}};
}

std::vector<Segment> expected(const Shape& s) {
  const std::size_t b = block(s);
  std::vector<Segment> segments;
  for (std::size_t r = 0; is_root(s) && r < ranks(s); ++r) {
    segments.push_back({.out = r * b, .count = b, .from = static_cast<int>(r), .at = 0});
  }
  return segments;
}

}  // namespace

const Collective gather = {
    .name = "gather",
    .rooted = true,
    .splits = true,
    .layout = layout,
    .expected = expected,
    .bus_factor = others_share,
    .run = [](Communicator& c, const Call& call) { c.gather(call); },
};

}  // namespace ccl::collectives
