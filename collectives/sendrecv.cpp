// sendrecv_perf: messages between neighbours.
// ring: every rank sends its buffer to the next rank and receives the previous rank's.
// exchange: two ranks swap their buffers.
// async: one half of the buffer goes to each neighbour while one half comes from each.
#include <array>

#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

int next(const GroupRank& self) { return (self.rank + 1) % self.ranks; }
int previous(const GroupRank& self) { return (self.rank + self.ranks - 1) % self.ranks; }
int partner(const GroupRank& self) { return self.rank ^ 1; }

Layout whole_buffer(const Shape& s) { return out_of_place(whole_replaced(s)); }

template <auto to, auto from>
void swap_with(Communicator& c, const Call& call) {
  Call step = call;
  c.begin_group();
  step.peer = to(call.self);
  c.send(step);
  step.peer = from(call.self);
  c.recv(step);
  c.end_group();
}

std::optional<std::string> unsupported_exchange(const Shape& s) {
  if (s.self.ranks % 2 == 0) return std::nullopt;
  return "sendrecv --mode exchange needs an even number of ranks, not " +
         std::to_string(s.self.ranks);
}

Layout two_halves(const Shape& s) {
  const std::size_t half = s.count / 2;
  return {.send = 2 * half,
          .recv = 2 * half,
          .count = half,
          .table_count = half,
          .algbw_bytes = 2 * half * s.type_bytes};
}

// The first half of a send buffer is for the next rank. The first half of a receive buffer comes
// from the previous rank.
std::vector<ExpectedBlock> halves_of_neighbours(const Shape& s) {
  const std::size_t half = s.count / 2;
  return {{.recv_offset = 0, .count = half, .source_rank = previous(s.self), .source_offset = 0},
          {.recv_offset = half, .count = half, .source_rank = next(s.self), .source_offset = half}};
}

// The order of posting counts if both neighbours are one rank: messages of one pair match in that
// order.
void swap_with_both(Communicator& c, const Call& call) {
  const std::size_t half_bytes = call.count * size_of(call.type);
  Call first = call;
  Call second = call;
  second.send = static_cast<const std::byte*>(call.send) + half_bytes;
  second.recv = static_cast<std::byte*>(call.recv) + half_bytes;
  c.begin_group();
  first.peer = previous(call.self);
  second.peer = next(call.self);
  c.recv(first);
  c.recv(second);
  first.peer = next(call.self);
  second.peer = previous(call.self);
  c.send(first);
  c.send(second);
  c.end_group();
}

constexpr Needs of_messages = {.operations = {OperationId::transfer}};

const Collective exchange = {
    .name = "sendrecv",
    .mode = "exchange",
    .unsupported = unsupported_exchange,
    .layout = whole_buffer,
    .expected = [](const Shape& s) { return one_block(partner(s.self), s.count); },
    .bus_factor = whole,
    .make = calls<swap_with<partner, partner>>,
    .needs = of_messages,
};

const Collective async = {
    .name = "sendrecv",
    .mode = "async",
    .layout = two_halves,
    .expected = halves_of_neighbours,
    .bus_factor = whole,
    .make = calls<swap_with_both>,
    .needs = of_messages,
};

constexpr std::array<const Collective*, 2> other_modes = {&exchange, &async};

}  // namespace

const Collective sendrecv = {
    .name = "sendrecv",
    .about = "every rank sends to one rank and receives from one",
    .mode = "ring",
    .modes = other_modes,
    .domain = {.peers = 2},
    .layout = whole_buffer,
    .expected = [](const Shape& s) { return one_block(previous(s.self), s.count); },
    .bus_factor = whole,
    .make = calls<swap_with<next, previous>>,
    .needs = of_messages,
};

}  // namespace ccl_tests::collectives
