// all_gather_perf: every rank gets all ranks' blocks, in rank order.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

// The elements that one rank's call reads and writes. block(s): one rank's part of the requested
// size.
Layout layout(const Shape& s) {
  const std::size_t b = block(s);
  return {.send = b,
          .recv = b * ranks(s),
          .count = b,
          .table_count = b,
          .algbw_bytes = b * ranks(s) * s.type_bytes,
          .in_place = InPlace{b * rank(s), 0}};
}

// The receive buffer after the call: block r is rank r's input.
std::vector<ExpectedBlock> expected(const Shape& s) {
  const std::size_t b = block(s);
  std::vector<ExpectedBlock> blocks;
  for (std::size_t r = 0; r < ranks(s); ++r) {
    blocks.push_back(
        {.recv_offset = r * b, .count = b, .source_rank = static_cast<int>(r), .source_offset = 0});
  }
  return blocks;
}

}  // namespace

const Collective all_gather = {
    .name = "all_gather",
    .about = "every rank gets all ranks' blocks",
    .layout = layout,
    .expected = expected,
    .bus_factor = others_share,  // (n - 1) / n
    .make = calls<&Communicator::all_gather>,
};

}  // namespace ccl_tests::collectives
