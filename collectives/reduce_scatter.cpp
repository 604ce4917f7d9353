// reduce_scatter_perf: rank r gets block r of the reduction of all ranks' buffers.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

Layout layout(const Shape& s) {
  const std::size_t b = block(s);
  return {.send = b * ranks(s),
          .recv = b,
          .count = b,
          .table_count = b,
          .algbw_bytes = b * ranks(s) * s.type_bytes,
          .in_place = InPlace{0, b * rank(s)}};
}

}  // namespace

const Collective reduce_scatter = {
    .name = "reduce_scatter",
    .about = "every rank gets its block of the reduction",
    .domain = {.reduces = true},
    .layout = layout,
    .expected = [](const Shape& s) { return reduction(block(s), block(s) * rank(s)); },
    .bus_factor = others_share,
    .make = calls<&Communicator::reduce_scatter>,
};

}  // namespace ccl_tests::collectives
