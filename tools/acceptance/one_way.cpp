#include "tools/acceptance/one_way.hpp"

#include "src/core/communicator.hpp"
#include "src/core/library_call.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t answer = 1;  // element

bool sends(const Shape& s) { return s.self.rank == 0; }

Layout layout(const Shape& s) {
  return {.send = sends(s) ? s.count : answer,
          .recv = sends(s) ? answer : s.count,
          .count = s.count,
          .table_count = s.count,
          .algbw_bytes = s.count * s.type_bytes};
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  return {{.count = sends(s) ? answer : s.count, .source_rank = 1 - s.self.rank}};
}

// Ranks without a peer post empty groups, because groups are collective on loopback.
void send_one_way(Communicator& c, const Call& call) {
  const bool first = call.self.rank == 0;
  const auto turn = [&](bool sends, std::size_t count) {
    Call message = call;
    message.count = count;
    c.begin_group();
    if (call.peer >= 0) sends ? c.send(message) : c.recv(message);
    c.end_group();
  };
  turn(first, call.count);
  c.fence();  // the answer begins when everything has come
  turn(!first, answer);
}

}  // namespace

const Collective one_way = {
    .name = "one_way",
    .about = "a message from one rank to another",
    .domain = {.paired = true},
    .unsupported = [](const Shape& s) -> std::optional<std::string> {
      if (s.count >= answer) return std::nullopt;
      return "a message of no elements has no end";
    },
    .layout = layout,
    .expected = expected,
    .bus_factor = [](const Shape& /*s*/) { return 1.0; },
    .make = [](ControlChannel& /*channel*/, Communicator& communicator, const Shape& /*shape*/,
               DataType /*type*/) -> std::unique_ptr<Operation> {
      return std::make_unique<LibraryCall<send_one_way>>(communicator);
    },
    .needs = {.in_steps = true, .host_waits = true, .operations = {OperationId::transfer}},
};

}  // namespace ccl_tests::acceptance
