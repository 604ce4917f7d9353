// gather_perf: the root gets all ranks' blocks, in rank order.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

Layout layout(const Shape& s) {
  const std::size_t b = block(s);
  return {.send = b,
          .recv = is_root(s) ? b * ranks(s) : 0,
          .count = b,
          .table_count = b,
          .algbw_bytes = b * ranks(s) * s.type_bytes,
          .in_place = InPlace{b * rank(s), 0}};
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  const std::size_t b = block(s);
  std::vector<ExpectedBlock> segments;
  for (std::size_t r = 0; is_root(s) && r < ranks(s); ++r) {
    segments.push_back(
        {.recv_offset = r * b, .count = b, .source_rank = static_cast<int>(r), .source_offset = 0});
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

}  // namespace ccl_tests::collectives
