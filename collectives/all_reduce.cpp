// all_reduce_perf: every rank gets the reduction of all ranks' buffers.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl::collectives {
namespace {

Layout layout(const Shape& s) {
  return {.send = s.count,
          .recv = s.count,
          .call_count = s.count,
          .column_count = s.count,
          .wire_bytes = s.count * s.type_bytes,
          .in_place = InPlace{0, 0}};
}

std::vector<Segment> expected(const Shape& s) { return {{.out = 0, .count = s.count}}; }

// Every element is sent once to be reduced and once to be distributed, except a rank's own share.
double bus_factor(const Shape& s) { return 2 * others_share(s); }

}  // namespace

const Collective all_reduce = {
    .name = "all_reduce",
    .reduces = true,
    .layout = layout,
    .expected = expected,
    .bus_factor = bus_factor,
    .run = [](Communicator& c, const Call& call) { c.all_reduce(call); },
};

}  // namespace ccl::collectives
