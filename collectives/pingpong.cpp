// pingpong_perf: messages between the two ranks of a pair.
// Back and forth: a window of messages goes to the other rank, which answers with as many messages
// when the whole window has come.
// In both directions (--bidirectional): both ranks send their windows at the same time.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

Layout layout(const Shape& s) {
  const std::size_t all = s.options.window * s.count;
  return {.send = all,
          .recv = all,
          .count = s.count,
          .table_count = s.count,
          .algbw_bytes = all * s.type_bytes,
          .messages = s.options.window,
          .legs = s.options.bidirectional ? 1U : 2U};
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  return {{.recv_offset = 0,
           .count = s.options.window * s.count,
           .source_rank = 1 - s.self.rank,
           .source_offset = 0}};
}

// Posts one window. A rank without a peer posts an empty group, because groups are collective on
// loopback.
void take_turn(Communicator& c, const Call& call, bool sends, bool receives) {
  const std::size_t bytes = call.count * size_of(call.type);
  Call message = call;
  c.begin_group();
  for (std::size_t m = 0; call.peer >= 0 && m < call.messages; ++m) {
    message.send = static_cast<const std::byte*>(call.send) + m * bytes;
    message.recv = static_cast<std::byte*>(call.recv) + m * bytes;
    if (receives) c.recv(message);
    if (sends) c.send(message);
  }
  c.end_group();
}

void run(Communicator& c, const Call& call) {
  if (call.legs == 1) {
    take_turn(c, call, true, true);
    return;
  }
  const bool first = call.self.rank == 0;
  take_turn(c, call, first, !first);
  c.fence();  // the answer begins when everything has come
  take_turn(c, call, !first, first);
}

}  // namespace

const Collective pingpong = {
    .name = "pingpong",
    .domain = {.paired = true},
    .layout = layout,
    .expected = expected,
    .bus_factor = whole,
    .make = calls<run>,
    .needs = {.in_steps = true, .host_waits = true},
};

}  // namespace ccl_tests::collectives
