// sendrecv_perf: a ring shift; every rank sends its buffer to the next rank and receives the
// previous one's.
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
          .in_place = std::nullopt};
}

std::vector<Segment> expected(const Shape& s) {
  const int previous = (s.place.rank + s.place.ranks - 1) % s.place.ranks;
  return {{.out = 0, .count = s.count, .from = previous, .at = 0}};
}

void run(Communicator& c, const Call& call) {
  const Place& place = call.place;
  Call step = call;
  c.begin_group();
  step.peer = (place.rank + 1) % place.ranks;
  c.send(step);
  step.peer = (place.rank + place.ranks - 1) % place.ranks;
  c.recv(step);
  c.end_group();
}

}  // namespace

const Collective sendrecv = {
    .name = "sendrecv",
    .layout = layout,
    .expected = expected,
    .bus_factor = whole,
    .run = run,
};

}  // namespace ccl::collectives
