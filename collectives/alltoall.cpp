// alltoall_perf: rank r gets block r of every rank's buffer, in rank order.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl::collectives {
namespace {

Layout layout(const Shape& s) {
  const std::size_t b = block(s);
  return {.send = b * ranks(s),
          .recv = b * ranks(s),
          .call_count = b,
          .column_count = b,
          .wire_bytes = b * ranks(s) * s.type_bytes,
          .in_place = std::nullopt};
}

std::vector<Segment> expected(const Shape& s) {
  const std::size_t b = block(s);
  std::vector<Segment> segments;
  for (std::size_t r = 0; r < ranks(s); ++r) {
    segments.push_back({.out = r * b, .count = b, .from = static_cast<int>(r), .at = b * rank(s)});
  }
  return segments;
}

}  // namespace

const Collective alltoall = {
    .name = "alltoall",
    .splits = true,
    .layout = layout,
    .expected = expected,
    .bus_factor = others_share,
    .run = [](Communicator& c, const Call& call) { c.alltoall(call); },
};

}  // namespace ccl::collectives
