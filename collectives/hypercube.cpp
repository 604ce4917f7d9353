// hypercube_perf: an all-gather made of log2(ranks) exchanges with the neighbours of a hypercube.
// In step d, a rank swaps the 2^d blocks that it has with rank ^ 2^d.
#include <bit>

#include "collectives/collectives.hpp"
#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {
namespace {

std::optional<std::string> unsupported(const Shape& s) {
  if (std::has_single_bit(ranks(s))) return std::nullopt;
  return "hypercube needs a number of ranks that is a power of two, not " +
         std::to_string(s.self.ranks);
}

Layout layout(const Shape& s) {
  Layout result = all_gather.layout(s);
  result.algbw_bytes -= block(s) * s.type_bytes;  // what a rank really receives
  return result;
}

void run(Communicator& c, const Call& call) {
  const auto me = static_cast<std::size_t>(call.self.rank);
  const std::size_t block_bytes = call.count * size_of(call.type);
  auto* const recv = static_cast<std::byte*>(call.recv);
  const auto swap_blocks = [&](const void* mine, std::size_t theirs, std::size_t blocks,
                               std::size_t peer) {
    Call step = call;
    step.count = blocks * call.count;
    step.peer = static_cast<int>(peer);
    step.send = mine;
    step.recv = recv + theirs * block_bytes;
    c.begin_group();
    c.send(step);
    c.recv(step);
    c.end_group();
  };
  // A rank's own block first (nothing moves in place), as a message to itself.
  if (call.send != recv + me * block_bytes) swap_blocks(call.send, me, 1, me);
  for (std::size_t d = 1; d < static_cast<std::size_t>(call.self.ranks); d *= 2) {
    const std::size_t mine = me & ~(d - 1);
    swap_blocks(recv + mine * block_bytes, mine ^ d, d, me ^ d);
    c.fence();
  }
}

}  // namespace

const Collective hypercube = {
    .name = "hypercube",
    .about = "all ranks' blocks, by exchanges with log2(ranks) peers",
    .unsupported = unsupported,
    .layout = layout,
    .expected = [](const Shape& s) { return all_gather.expected(s); },
    .bus_factor = whole,
    .make = calls<run>,
    .needs = {.in_steps = true, .operations = {OperationId::transfer}},
};

}  // namespace ccl_tests::collectives
