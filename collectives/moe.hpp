// The parts that moe_dispatch and moe_combine share: a mixture of experts whose experts are divided
// over the ranks. A rank's experts hold their tokens as rows: ordered by expert, then by the rank
// that the token is from, then by its place there.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "collectives/composites.hpp"
#include "src/core/routing.hpp"

namespace ccl_tests::collectives {

inline std::size_t hidden(const Shape& s) { return s.options.routing.hidden; }

// Returns the routing of a row: of so many tokens on each rank as the requested size has.
inline Routing routing_of(const Shape& s) {
  return {s.options.routing, s.self.ranks, s.count / hidden(s)};
}

inline std::optional<std::string> moe_unsupported(const Shape& s) {
  const std::string why = Routing::why_not(s.options.routing, s.self.ranks);
  if (why.empty()) return std::nullopt;
  return fmt::format("--routing {}: {}", s.options.routing.name, why);
}

// Calls visit(rank, token there, k, expert) for every choice of every rank's tokens, in order.
template <class Visit>
void for_each_choice(const Routing& routing, Visit&& visit) {
  std::vector<int> experts(routing.top_k());
  for (int rank = 0; rank < routing.ranks(); ++rank)
    for (std::size_t t = 0; t < routing.tokens(rank); ++t) {
      routing.choose(routing.first_token(rank) + t, experts);
      for (std::size_t k = 0; k < experts.size(); ++k) visit(rank, t, k, experts[k]);
    }
}

// A row of an expert's: which token it is.
struct ExpertRow {
  int expert = 0;
  int rank = 0;  // that the token is from
  std::size_t token = 0, k = 0;
};
// Returns the rows of one rank's experts.
inline std::vector<ExpertRow> rows_of(const Routing& routing, int rank) {
  std::vector<ExpertRow> rows;
  for_each_choice(routing, [&](int from, std::size_t token, std::size_t k, int expert) {
    if (routing.home(expert) == rank) rows.push_back({expert, from, token, k});
  });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ExpertRow& a, const ExpertRow& b) { return a.expert < b.expert; });
  return rows;
}

inline RoutingLoad moe_load(const Shape& s) {
  return load_of(routing_of(s), s.options.routing.experts);
}

// Returns the elements of the largest buffer of any rank: a rank's tokens, or its experts' rows.
inline std::size_t moe_largest(const Shape& s) {
  const Routing routing = routing_of(s);
  const std::size_t rows = load_of(routing, s.options.routing.experts).busiest_pairs;
  std::size_t tokens = 0;
  for (int r = 0; r < s.self.ranks; ++r) tokens = std::max(tokens, routing.tokens(r));
  return std::max(rows, tokens) * hidden(s);
}

// Returns what the busiest rank sends or receives for each byte of a rank's tokens.
inline double moe_bus_factor(const Shape& s) {
  const std::size_t tokens = s.count / hidden(s);
  if (tokens == 0) return others_share(s);
  return static_cast<double>(moe_load(s).busiest_tokens) / static_cast<double>(tokens);
}

// Returns the bytes of the packed tokens that a rank sends and receives.
inline std::size_t moe_scratch(const Shape& s) { return 2 * moe_largest(s) * s.type_bytes; }

// Returns one rank's call. to_experts: its tokens are sent and rows received; else the other way.
inline Layout moe_layout(const Shape& s, bool to_experts) {
  const Routing routing = routing_of(s);
  std::size_t rows = 0;
  for_each_choice(routing, [&](int, std::size_t, std::size_t, int expert) {
    if (routing.home(expert) == s.self.rank) ++rows;
  });
  const std::size_t tokens = routing.tokens(s.self.rank) * hidden(s);
  rows *= hidden(s);
  const std::size_t mean = s.count / hidden(s) * hidden(s);
  return {.send = to_experts ? tokens : rows,
          .recv = to_experts ? rows : tokens,
          .table_count = mean,
          .algbw_bytes = mean * s.type_bytes};
}

// Needs of an operation that exchanges tokens.
inline constexpr Needs moe_needs = {.in_steps = true,
                                    .host_memory = true,
                                    .host_waits = true,
                                    .own_buffers = true,
                                    .step_times = true,
                                    .operations = {OperationId::alltoall, OperationId::alltoallv}};

// Counts and offsets of an alltoallv, in elements.
struct Sides {
  std::vector<std::size_t> send, send_at, recv, recv_at;
};
// Exchanges blocks between all ranks. Collective.
inline void exchange(primitives::Group& group, const void* send, void* recv, DataType type,
                     Sides& sides) {
  sides.send_at = offsets(sides.send);
  sides.recv_at = offsets(sides.recv);
  Call call = group.call(send, recv, 0, type);
  call.send_counts = sides.send;
  call.send_offsets = sides.send_at;
  call.recv_counts = sides.recv;
  call.recv_offsets = sides.recv_at;
  group.run(&Communicator::alltoallv, call);
}

}  // namespace ccl_tests::collectives
