// scatter_perf: rank r gets block r of the root's buffer.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

Layout layout(const Shape& s) {
  const std::size_t b = block(s);
  return {.send = is_root(s) ? b * ranks(s) : 0,
          .recv = b,
          .count = b,
          .table_count = b,
          .algbw_bytes = b * ranks(s) * s.type_bytes,
          .in_place = InPlace{0, b * rank(s)}};
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  const std::size_t b = block(s);
  return {{.recv_offset = 0, .count = b, .source_rank = s.root, .source_offset = b * rank(s)}};
}

}  // namespace

const Collective scatter = {
    .name = "scatter",
    .about = "every rank gets its block of the root's buffer",
    .domain = {.rooted = true},
    .layout = layout,
    .expected = expected,
    .bus_factor = others_share,
    .make = calls<&Communicator::scatter>,
};

}  // namespace ccl_tests::collectives
