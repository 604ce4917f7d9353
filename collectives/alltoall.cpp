// alltoall_perf: rank r gets block r of every rank's buffer, in rank order.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

Layout layout(const Shape& s) {
  const std::size_t b = block(s);
  return {.send = b * ranks(s),
          .recv = b * ranks(s),
          .count = b,
          .table_count = b,
          .algbw_bytes = b * ranks(s) * s.type_bytes};
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  const std::size_t b = block(s);
  std::vector<ExpectedBlock> blocks;
  for (std::size_t r = 0; r < ranks(s); ++r)
    blocks.push_back({.recv_offset = r * b,
                      .count = b,
                      .source_rank = static_cast<int>(r),
                      .source_offset = b * rank(s)});
  return blocks;
}

}  // namespace

const Collective alltoall = {
    .name = "alltoall",
    .about = "every rank gets its block of all ranks' buffers",
    .layout = layout,
    .expected = expected,
    .bus_factor = others_share,
    .make = calls<&Communicator::alltoall>,
};

}  // namespace ccl_tests::collectives
