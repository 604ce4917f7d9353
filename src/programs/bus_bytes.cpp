#include "src/programs/bus_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ccl_tests {
namespace {

// The elements that have to move, by rank.
struct Traffic {
  std::vector<double> in, out;  // copied from another rank, to another rank
  // Reduced elements that a rank ends up with. A result that r ranks hold is reduced once and
  // handed on r - 1 times.
  std::vector<double> held;
};

Traffic count(const Collective& collective, const Shape& shape) {
  const auto n = static_cast<std::size_t>(shape.self.ranks);
  Traffic t{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
  for (std::size_t rank = 0; rank < n; ++rank) {
    Shape s = shape;
    s.self.rank = static_cast<int>(rank);
    for (const ExpectedBlock& block : collective.expected(s)) {
      const auto elements = static_cast<double>(block.count * block.repeat);
      if (block.source_rank == ExpectedBlock::all_ranks) {
        t.held[rank] += elements;
      } else if (block.source_rank != s.self.rank) {
        t.in[rank] += elements;
        t.out[static_cast<std::size_t>(block.source_rank)] += elements;
      }
    }
  }
  return t;
}

// Returns the elements through the most loaded link, for the algorithms that reach the bound. A
// broadcast can be pipelined along a chain, so its root sends the buffer once to any number of
// ranks.
double link_elements(const Collective& collective, const Shape& shape) {
  const Traffic t = count(collective, shape);
  const double n = shape.self.ranks;
  const double held = *std::max_element(t.held.begin(), t.held.end());
  if (held > 0) {
    const auto holders =
        std::count_if(t.held.begin(), t.held.end(), [](double h) { return h > 0; });
    double all = 0;
    for (const double h : t.held) all += h;
    // One holder: its buffer passes each link once (a chain). Everybody holds everything: reduced
    // in parts, then gathered. Everybody holds a part: only reduced.
    if (holders == 1) return held;
    const Layout layout = collective.layout(shape);
    const bool everything = layout.recv >= layout.send;
    // Whoever keeps least contributes most to the others' parts.
    const double least = *std::min_element(t.held.begin(), t.held.end());
    return everything ? 2 * (n - 1) / n * held : all - least;
  }
  const double in = *std::max_element(t.in.begin(), t.in.end());
  double distinct_out = 0;  // what a rank's send buffer holds, at most
  for (int rank = 0; rank < shape.self.ranks; ++rank) {
    Shape s = shape;
    s.self.rank = rank;
    const auto sent = t.out[static_cast<std::size_t>(rank)];
    distinct_out =
        std::max(distinct_out, std::min(sent, static_cast<double>(collective.layout(s).send)));
  }
  // A scatter's root keeps its own block: it cannot send its whole buffer.
  double most_out = 0;
  for (const double out : t.out) most_out = std::max(most_out, out);
  return std::max(in, std::min(distinct_out, most_out));
}

}  // namespace

std::optional<std::string> bus_factor_error(const Collective& collective, const Shape& shape) {
  if (collective.needs.synchronizes) return std::nullopt;
  // What is not delivered cannot be counted.
  if (collective.domain.fixed_bytes && collective.layout(shape).recv == 0) return std::nullopt;
  // With one rank nothing crosses a link; the factors of 1 are nccl-tests' convention there.
  if (shape.self.ranks == 1) return std::nullopt;
  const Layout layout = collective.layout(shape);
  const double stated = static_cast<double>(layout.algbw_bytes) * collective.bus_factor(shape);
  const double counted = link_elements(collective, shape) * static_cast<double>(shape.type_bytes);
  if (std::abs(stated - counted) <= 1e-9 * std::max(stated, counted)) return std::nullopt;
  // alltoallv's convention takes the mean over peers, (n - 1) / n of the largest buffer.
  if (collective.flags.block_matrix && counted <= static_cast<double>(layout.algbw_bytes))
    return std::nullopt;
  return fmt::format("{} ranks: algbw_bytes x bus_factor is {} B, the most loaded rank moves {} B",
                     shape.self.ranks, stated, counted);
}

}  // namespace ccl_tests
