// moe_dispatch_perf: every token of a mixture of experts goes to the ranks of its experts, once to
// each, and every expert turns its tokens by a number of elements of its own.
#include "collectives/collectives.hpp"
#include "collectives/moe.hpp"

namespace ccl_tests::collectives {
namespace {

// Returns by how many elements an expert turns a token: y[j] = x[(j + turn) mod hidden]. Not 0, so
// that a token that nobody transformed is wrong, and different for different experts while hidden
// is larger than their number.
std::size_t turn_of(int expert, std::size_t hidden) {
  return hidden == 1 ? 0 : 1 + static_cast<std::size_t>(expert) % (hidden - 1);
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  const Routing routing = routing_of(s);
  const std::size_t h = hidden(s);
  std::vector<ExpectedBlock> blocks;
  std::size_t at = 0;
  for (const ExpertRow& row : rows_of(routing, s.self.rank)) {
    const std::size_t turn = turn_of(row.expert, h);
    const std::size_t token = row.token * h;
    blocks.push_back({.recv_offset = at,
                      .count = h - turn,
                      .source_rank = row.rank,
                      .source_offset = token + turn});
    if (turn > 0)
      blocks.push_back({.recv_offset = at + h - turn,
                        .count = turn,
                        .source_rank = row.rank,
                        .source_offset = token});
    at += h;
  }
  return blocks;
}

std::string place(const Shape& s, std::size_t element) {
  const std::vector<ExpertRow> rows = rows_of(routing_of(s), s.self.rank);
  const std::size_t at = element / hidden(s);
  if (at >= rows.size()) return "beyond the last row";
  const ExpertRow& row = rows[at];
  return fmt::format("token {} of rank {} at expert {} of rank {}", row.token, row.rank, row.expert,
                     s.self.rank);
}

class Dispatch : public OnGroup {
 public:
  Dispatch(ControlChannel& channel, Communicator& communicator, const Shape& shape,
           DataType /*type*/)
      : OnGroup(channel, communicator),
        options_(shape.options.routing),
        routing_(options_, shape.self.ranks, shape.count / hidden(shape)),
        room_(moe_layout(shape, true).recv / hidden(shape)),
        me_(shape.self.rank) {
    const std::size_t first = routing_.first_token(me_);
    chosen_.resize(routing_.tokens(me_) * options_.top_k);
    for (std::size_t t = 0; t < routing_.tokens(me_); ++t)
      routing_.choose(first + t, std::span(chosen_).subspan(t * options_.top_k, options_.top_k));
  }

  void run(const Call& call) override {
    const auto n = static_cast<std::size_t>(routing_.ranks());
    primitives::StepClock clock = group().step_clock();
    list_tokens(n);
    clock.packing();
    tell_experts(n);
    clock.sizes();
    const std::size_t bytes = options_.hidden * size_of(call.type);
    const auto* const send = static_cast<const std::byte*>(call.send);
    std::span<std::byte> out = group().workspace().room<std::byte>("moe out", sent_ * bytes);
    std::span<std::byte> in = group().workspace().room<std::byte>("moe in", received_ * bytes);
    std::byte* to = out.data();
    for (const std::vector<std::size_t>& list : tokens_for_)
      for (const std::size_t token : list) to = std::copy_n(send + token * bytes, bytes, to);
    clock.packing();
    Sides sides;
    for (std::size_t r = 0; r < n; ++r) {
      sides.send.push_back(tokens_for_[r].size() * options_.hidden);
      sides.recv.push_back(counts_[r] * options_.hidden);
    }
    exchange(group(), out.data(), in.data(), call.type, sides);
    clock.payload();
    hand_to_experts(in.data(), static_cast<std::byte*>(call.recv), size_of(call.type));
    clock.packing();
  }

 private:
  // Lists, for each rank, the tokens that go there and, for each of them, its experts there.
  void list_tokens(std::size_t n) {
    tokens_for_.assign(n, {});
    experts_for_.assign(n, {});
    sent_ = 0;
    const std::size_t k = options_.top_k;
    for (std::size_t t = 0; t < chosen_.size() / k; ++t)
      for (std::size_t i = 0; i < k; ++i) {
        const int expert = chosen_[t * k + i];
        const auto rank = static_cast<std::size_t>(routing_.home(expert));
        if (tokens_for_[rank].empty() || tokens_for_[rank].back() != t) {
          tokens_for_[rank].push_back(t);
          experts_for_[rank].resize(experts_for_[rank].size() + k, no_expert);
          ++sent_;
        }
        experts_for_[rank][experts_for_[rank].size() - k + i] = expert;
      }
  }

  // Exchanges how many tokens come, and which experts they are for. Collective.
  void tell_experts(std::size_t n) {
    const std::size_t k = options_.top_k;
    std::vector<std::uint64_t> mine(n), theirs(n);
    for (std::size_t r = 0; r < n; ++r) mine[r] = tokens_for_[r].size();
    group().run(&Communicator::alltoall,
                group().call(mine.data(), theirs.data(), 1, DataType::uint64));
    counts_.assign(theirs.begin(), theirs.end());
    received_ = 0;
    for (const std::size_t count : counts_) {
      if (count > room_) throw Error("a rank says that it sends more tokens than there are");
      received_ += count;
    }
    Sides sides;
    std::vector<std::int32_t> out;
    for (std::size_t r = 0; r < n; ++r) {
      out.insert(out.end(), experts_for_[r].begin(), experts_for_[r].end());
      sides.send.push_back(experts_for_[r].size());
      sides.recv.push_back(counts_[r] * k);
    }
    arrived_.assign(received_ * k, no_expert);
    exchange(group(), out.data(), arrived_.data(), DataType::int32, sides);
  }

  // Writes the rows of this rank's experts, each token turned. in: the tokens as they came.
  void hand_to_experts(const std::byte* in, std::byte* recv, std::size_t width) const {
    const int first = routing_.first_expert(me_);
    const auto experts = static_cast<std::size_t>(routing_.first_expert(me_ + 1) - first);
    const std::size_t k = options_.top_k;
    std::vector<std::size_t> rows(experts);
    for (const int expert : arrived_) {
      if (expert == no_expert) continue;
      if (expert < first || expert >= first + static_cast<int>(experts))
        throw Error(fmt::format("a token came for expert {}, which is not here", expert));
      ++rows[static_cast<std::size_t>(expert - first)];
    }
    std::vector<std::size_t> next = offsets(rows);
    if (sum(rows) > room_) throw Error("more tokens came than there are");
    const std::size_t bytes = options_.hidden * width;
    for (std::size_t t = 0; t < received_; ++t)
      for (std::size_t i = 0; i < k; ++i) {
        const int expert = arrived_[t * k + i];
        if (expert == no_expert) continue;
        const std::size_t turn = turn_of(expert, options_.hidden) * width;
        std::byte* const row = recv + next[static_cast<std::size_t>(expert - first)]++ * bytes;
        const std::byte* const token = in + t * bytes;
        std::copy_n(token, turn, std::copy_n(token + turn, bytes - turn, row));
      }
  }

  static constexpr std::int32_t no_expert = -1;
  const RoutingOptions& options_;
  Routing routing_;
  std::size_t room_;  // rows of the receive buffer
  int me_;
  std::vector<int> chosen_;                             // by this rank's tokens, top_k each
  std::vector<std::vector<std::size_t>> tokens_for_;    // by rank
  std::vector<std::vector<std::int32_t>> experts_for_;  // by rank; top_k for each token
  std::vector<std::size_t> counts_;                     // of tokens that come, by rank
  std::vector<std::int32_t> arrived_;                   // top_k for each token that came
  std::size_t sent_ = 0, received_ = 0;                 // tokens
};

}  // namespace

const Collective moe_dispatch = {
    .name = "moe_dispatch",
    .about = "tokens go to the ranks of their experts (MoE)",
    .flags = {.routing = true},
    .unsupported = moe_unsupported,
    .layout = [](const Shape& s) { return moe_layout(s, true); },
    .expected = expected,
    .place = place,
    .bus_factor = moe_bus_factor,
    .load = moe_load,
    .largest = moe_largest,
    .scratch = moe_scratch,
    .make = compose<Dispatch>,
    .needs = moe_needs,
};

}  // namespace ccl_tests::collectives
