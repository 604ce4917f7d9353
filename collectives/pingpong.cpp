// pingpong_perf: messages between the two ranks of a pair.
// Back and forth: a window of messages goes to the other rank, which answers with as many messages
// when the whole window has come.
// In both directions (--bidirectional): both ranks send their windows at the same time.
#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"
#include "src/core/composed.hpp"

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

}  // namespace

const Collective pingpong = {
    .name = "pingpong",
    .about = "messages between the two ranks of a pair",
    .domain = {.paired = true},
    .layout = layout,
    .expected =
        [](const Shape& s) { return one_block(1 - s.self.rank, s.options.window * s.count); },
    .bus_factor = whole,
    .make = calls<composed::exchange_windows>,
    .needs = {.in_steps = true, .host_waits = true, .operations = {OperationId::transfer}},
};

}  // namespace ccl_tests::collectives
