// moe_combine_perf: every token of a mixture of experts gets the weighted sum of its experts'
// results. A rank adds up the results of its own experts first, and sends each token's owner one
// sum.
#include "collectives/collectives.hpp"
#include "collectives/moe.hpp"

namespace ccl_tests::collectives {
namespace {

constexpr std::array<DataType, 4> types = {DataType::float32, DataType::half, DataType::bfloat16,
                                           DataType::float64};

// Weights are at most 3: the sum of top_k weighted results has then no more bits than the type.
std::uint64_t largest_input(const Shape& s, DataType type) {
  const std::uint64_t whole =
      with_type(type, []<class T>() { return std::uint64_t{1} << float_format<T>().significand; });
  return std::max<std::uint64_t>(1, whole / (3 * s.options.routing.top_k));
}

std::optional<std::string> unsupported(const Shape& s) {
  constexpr std::size_t most = 64;  // 3 x 64 is below the 256 that bfloat16 can count to
  if (s.options.routing.top_k <= most) return moe_unsupported(s);
  return fmt::format("--top-k: sums of more than {} results are not exact in every type", most);
}

// Returns each expert's first row on its rank.
std::vector<std::size_t> first_rows(const Routing& routing, std::size_t experts) {
  std::vector<std::size_t> rows(experts), first(experts);
  for_each_choice(routing, [&](int, std::size_t, std::size_t, int expert) {
    ++rows[static_cast<std::size_t>(expert)];
  });
  for (std::size_t e = 1; e < experts; ++e) {
    const bool neighbours =
        routing.home(static_cast<int>(e)) == routing.home(static_cast<int>(e) - 1);
    first[e] = neighbours ? first[e - 1] + rows[e - 1] : 0;
  }
  return first;
}

std::vector<ExpectedBlock> expected(const Shape& s) {
  const Routing routing = routing_of(s);
  const std::size_t h = hidden(s);
  std::vector<ExpectedBlock> blocks(routing.tokens(s.self.rank));
  std::vector<std::size_t> next = first_rows(routing, s.options.routing.experts);
  for_each_choice(routing, [&](int rank, std::size_t token, std::size_t k, int expert) {
    const std::size_t row = next[static_cast<std::size_t>(expert)]++;
    if (rank != s.self.rank) return;
    ExpectedBlock& block = blocks[token];
    block.recv_offset = token * h;
    block.count = h;
    block.terms.push_back(
        {routing.home(expert), row * h, routing.weight(routing.first_token(rank) + token, k)});
  });
  return blocks;
}

std::string place(const Shape& s, std::size_t element) {
  const Routing routing = routing_of(s);
  const std::size_t token = element / hidden(s);
  std::vector<int> experts(routing.top_k());
  routing.choose(routing.first_token(s.self.rank) + token, experts);
  std::string terms;
  for (std::size_t k = 0; k < experts.size(); ++k)
    terms += fmt::format("{}{} x expert {} of rank {}", k > 0 ? " + " : "",
                         routing.weight(routing.first_token(s.self.rank) + token, k), experts[k],
                         routing.home(experts[k]));
  return fmt::format("token {} of rank {} = {}", token, s.self.rank, terms);
}

// Adds `weight` times a row to a sum, or begins the sum with it. Exact for the inputs of the test.
template <class T>
void add(T* to, const T* row, std::size_t count, int weight, bool first) {
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      const T part = static_cast<T>(weight) * row[i];
      to[i] = first ? part : to[i] + part;
    } else {
      const double part = weight * to_double(row[i]);
      to[i] = from_double<T>(first ? part : to_double(to[i]) + part);
    }
  }
}

class Combine : public OnGroup {
 public:
  Combine(ControlChannel& channel, Communicator& communicator, const Shape& shape,
          DataType /*type*/)
      : OnGroup(channel, communicator),
        hidden_(hidden(shape)),
        out_(static_cast<std::size_t>(shape.self.ranks)),
        in_(out_.size()) {
    const Routing routing = routing_of(shape);
    const int me = shape.self.rank;
    std::vector<std::size_t> next = first_rows(routing, shape.options.routing.experts);
    for_each_choice(routing, [&](int rank, std::size_t token, std::size_t k, int expert) {
      const std::size_t row = next[static_cast<std::size_t>(expert)]++;
      const int home = routing.home(expert);
      if (home == me) {
        const int weight = routing.weight(routing.first_token(rank) + token, k);
        out_[static_cast<std::size_t>(rank)].push_back({token, row, weight});
      }
      std::vector<std::size_t>& from = in_[static_cast<std::size_t>(home)];
      if (rank == me && (from.empty() || from.back() != token)) from.push_back(token);
    });
  }

  void run(const Call& call) override {
    with_type(call.type, [&]<class T>() {
      if constexpr (is_float<T>) run_with<T>(call);
    });
  }

 private:
  struct Part {
    std::size_t token, row;  // of its owner; of this rank's experts
    int weight;
  };

  template <class T>
  void run_with(const Call& call) {
    primitives::StepClock clock = group().step_clock();
    Sides sides;
    std::size_t sent = 0, received = 0;  // sums
    for (std::size_t r = 0; r < out_.size(); ++r) {
      std::size_t sums = 0;
      for (std::size_t i = 0; i < out_[r].size(); ++i)
        if (i == 0 || out_[r][i].token != out_[r][i - 1].token) ++sums;
      sides.send.push_back(sums * hidden_);
      sides.recv.push_back(in_[r].size() * hidden_);
      sent += sums;
      received += in_[r].size();
    }
    std::span<T> out = group().workspace().room<T>("moe out", sent * hidden_);
    std::span<T> in = group().workspace().room<T>("moe in", received * hidden_);
    const auto* const rows = static_cast<const T*>(call.send);
    T* to = out.data();
    for (const std::vector<Part>& parts : out_)
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const bool first = i == 0 || parts[i].token != parts[i - 1].token;
        add(to, rows + parts[i].row * hidden_, hidden_, parts[i].weight, first);
        if (i + 1 == parts.size() || parts[i + 1].token != parts[i].token) to += hidden_;
      }
    clock.packing();
    exchange(group(), out.data(), in.data(), call.type, sides);
    clock.payload();
    auto* const tokens = static_cast<T*>(call.recv);
    begun_.assign(begun_.size(), 0);
    const T* from = in.data();
    for (const std::vector<std::size_t>& list : in_)
      for (const std::size_t token : list) {
        if (token >= begun_.size()) begun_.resize(token + 1);
        add(tokens + token * hidden_, from, hidden_, 1, begun_[token] == 0);
        begun_[token] = 1;
        from += hidden_;
      }
    clock.packing();
  }

  std::size_t hidden_;
  std::vector<std::vector<Part>> out_;        // by the rank that owns the tokens
  std::vector<std::vector<std::size_t>> in_;  // tokens of this rank, by the rank that sends a sum
  std::vector<char> begun_;                   // by token
};

}  // namespace

const Collective moe_combine = {
    .name = "moe_combine",
    .about = "tokens get the weighted sum of experts' results",
    .domain = {.types = types},
    .flags = {.routing = true},
    .unsupported = unsupported,
    .layout = [](const Shape& s) { return moe_layout(s, false); },
    .expected = expected,
    .largest_input = largest_input,
    .place = place,
    .bus_factor = moe_bus_factor,
    .load = moe_load,
    .largest = moe_largest,
    .scratch = moe_scratch,
    .make = compose<Combine>,
    .needs = moe_needs,
};

}  // namespace ccl_tests::collectives
