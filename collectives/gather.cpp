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
  return is_root(s) ? all_gather.expected(s) : nothing(s);
}

}  // namespace

const Collective gather = {
    .name = "gather",
    .about = "the root gets all ranks' blocks",
    .domain = {.rooted = true},
    .layout = layout,
    .expected = expected,
    .bus_factor = others_share,
    .make = calls<&Communicator::gather>,
};

}  // namespace ccl_tests::collectives
