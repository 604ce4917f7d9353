// broadcast_perf: every rank gets the root's buffer.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

Layout layout(const Shape& s) {
  return {.send = is_root(s) ? s.count : 0,
          .recv = s.count,
          .count = s.count,
          .table_count = s.count,
          .algbw_bytes = s.count * s.type_bytes,
          .in_place = InPlace{0, 0}};
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  return {{.recv_offset = 0, .count = s.count, .source_rank = s.root, .source_offset = 0}};
}

}  // namespace

const Collective broadcast = {
    .name = "broadcast",
    .about = "every rank gets the root's buffer",
    .domain = {.rooted = true},
    .layout = layout,
    .expected = expected,
    .bus_factor = whole,
    .make = calls<&Communicator::broadcast>,
};

}  // namespace ccl_tests::collectives
