#include "src/core/routing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "src/core/mix.hpp"

namespace ccl_tests {
namespace {

constexpr double hot_factor = 4;
constexpr double all_shares = 4294967296.0;  // 2^32: shares are whole, so that all machines agree

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  return mix(mix(mix(seed) + a) + b);
}
// Returns a number above 0, up to 1.
double uniform(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11) + 1) / 9007199254740992.0;
}

std::size_t hot_experts(std::size_t experts) { return std::max<std::size_t>(1, experts / 8); }

// Returns the places of the experts in an order that depends on the seed only.
std::vector<std::size_t> shuffled(std::size_t experts, std::uint64_t seed) {
  std::vector<std::size_t> order(experts);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = experts; i > 1; --i)
    std::swap(order[i - 1], order[random_bits(seed, 1, i) % i]);
  return order;
}

// Returns the place of a turn among `all` that take turns: `all` turns in a row are all places, and
// the k turns of a token lie far from each other.
std::size_t place_of(std::size_t turn, std::size_t all, std::size_t k) {
  std::size_t step = std::max<std::size_t>(1, all / k);
  while (std::gcd(step, all) != 1) ++step;
  return turn % all * step % all;
}

// Returns the experts' loads in proportion.
std::vector<double> shares(const RoutingOptions& o, const Routing& routing) {
  std::vector<double> share(o.experts, 1);
  const auto last_rank = static_cast<std::size_t>(routing.first_expert(routing.ranks() - 1));
  switch (o.rule.kind) {
    case RoutingKind::hot_experts:
      for (std::size_t e = 0; e < hot_experts(o.experts); ++e) share[e] = hot_factor;
      break;
    case RoutingKind::spread_hot: {
      const std::size_t hot = hot_experts(o.experts);
      for (std::size_t k = 0; k < hot; ++k) share[k * o.experts / hot] = hot_factor;
      break;
    }
    case RoutingKind::hot_rank:
      for (std::size_t e = last_rank; e < o.experts; ++e) share[e] = hot_factor;
      break;
    case RoutingKind::idle_rank:
      for (std::size_t e = last_rank; e < o.experts; ++e) share[e] = 0;
      break;
    case RoutingKind::lognormal:
      for (std::size_t e = 0; e < o.experts; ++e) {
        const double radius = std::sqrt(-2 * std::log(uniform(random_bits(o.seed, 2, e))));
        const double angle = 2 * std::numbers::pi * uniform(random_bits(o.seed, 3, e));
        share[e] = std::exp(o.rule.parameter * radius * std::cos(angle));
      }
      break;
    case RoutingKind::zipf: {
      const std::vector<std::size_t> order = shuffled(o.experts, o.seed);
      for (std::size_t k = 0; k < o.experts; ++k)
        share[order[k]] = std::pow(static_cast<double>(k + 1), -o.rule.parameter);
      break;
    }
    case RoutingKind::balanced:
    case RoutingKind::ragged:
    case RoutingKind::maxvio:
    case RoutingKind::trace: break;
  }
  return share;
}

bool draws(RoutingKind kind) {
  switch (kind) {
    case RoutingKind::balanced:
    case RoutingKind::ragged:
    case RoutingKind::maxvio:
    case RoutingKind::trace: return false;
    case RoutingKind::hot_experts:
    case RoutingKind::hot_rank:
    case RoutingKind::spread_hot:
    case RoutingKind::idle_rank:
    case RoutingKind::lognormal:
    case RoutingKind::zipf: break;
  }
  return true;
}

}  // namespace

std::string Routing::why_not(const RoutingOptions& o, int ranks) {
  std::size_t usable = o.experts;
  if (o.rule.kind == RoutingKind::idle_rank) {
    if (ranks < 2) return "an idle rank needs another one";
    usable =
        (o.experts * static_cast<std::size_t>(ranks - 1) + static_cast<std::size_t>(ranks) - 1) /
        static_cast<std::size_t>(ranks);
  }
  if (o.top_k > usable)
    return fmt::format("a token of {} experts cannot choose among {}", o.top_k, usable);
  const double most =
      static_cast<double>(o.experts) / static_cast<double>(o.top_k) - 1;  // every token is there
  if (o.rule.kind == RoutingKind::maxvio && o.rule.parameter > most)
    return fmt::format("with {} of {} experts maxvio is {} at most", o.top_k, o.experts, most);
  return {};
}

Routing::Routing(const RoutingOptions& options, int ranks, std::size_t tokens)
    : options_(options), ranks_(ranks), tokens_(tokens) {
  if (!draws(options.rule.kind)) return;
  const std::vector<double> share = shares(options, *this);
  const double sum = std::accumulate(share.begin(), share.end(), 0.0);
  std::uint64_t upper = 0;
  for (const double one : share)
    upper_.push_back(upper += static_cast<std::uint64_t>(one / sum * all_shares));
}

std::size_t Routing::tokens(int rank) const { return first_token(rank + 1) - first_token(rank); }

std::size_t Routing::first_token(int rank) const {
  const auto r = static_cast<std::size_t>(rank);
  if (options_.rule.kind != RoutingKind::ragged) return r * tokens_;
  return r * (r + 1) * tokens_ / (static_cast<std::size_t>(ranks_) + 1);
}

int Routing::home(int expert) const {
  return static_cast<int>(static_cast<std::size_t>(expert) * static_cast<std::size_t>(ranks_) /
                          options_.experts);
}

int Routing::first_expert(int rank) const {
  const auto n = static_cast<std::size_t>(ranks_);
  return static_cast<int>((static_cast<std::size_t>(rank) * options_.experts + n - 1) / n);
}

void Routing::choose(std::size_t token, std::span<int> experts) const {
  const std::size_t all = options_.experts;
  const std::size_t k = experts.size();
  switch (options_.rule.kind) {
    case RoutingKind::trace: {
      const std::vector<int>& line = options_.rule.trace[token % options_.rule.trace.size()];
      std::copy(line.begin(), line.end(), experts.begin());
      return;
    }
    case RoutingKind::maxvio: {
      // One expert is chosen by `part` of the tokens, evenly; the others take turns.
      const double part =
          (1 + options_.rule.parameter) * static_cast<double>(k) / static_cast<double>(all);
      const auto chosen_before = [&](std::size_t t) {
        return static_cast<std::size_t>(std::floor(static_cast<double>(t) * part + 1e-9));
      };
      const std::size_t before = chosen_before(token);
      const std::size_t hot = random_bits(options_.seed, 4, 0) % all;
      std::size_t at = 0;
      if (chosen_before(token + 1) > before) experts[at++] = static_cast<int>(hot);
      for (std::size_t turn = token * k - before; at < k; ++turn)
        experts[at++] = static_cast<int>((hot + 1 + place_of(turn, all - 1, k)) % all);
      return;
    }
    case RoutingKind::balanced:
    case RoutingKind::ragged:
      for (std::size_t i = 0; i < k; ++i)
        experts[i] = static_cast<int>(place_of(token * k + i, all, k));
      return;
    case RoutingKind::hot_experts:
    case RoutingKind::hot_rank:
    case RoutingKind::spread_hot:
    case RoutingKind::idle_rank:
    case RoutingKind::lognormal:
    case RoutingKind::zipf: break;
  }
  draw(token, experts);
}

// Draws by the experts' shares, each expert once.
void Routing::draw(std::size_t token, std::span<int> experts) const {
  constexpr std::uint64_t most_draws = 64;  // for one choice; then the next expert that is free
  for (std::size_t i = 0; i < experts.size(); ++i) {
    const auto chosen = [&](int expert) {
      return std::find(experts.begin(), experts.begin() + static_cast<std::ptrdiff_t>(i), expert) !=
             experts.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const auto share_of = [&](int expert) {
      const auto e = static_cast<std::size_t>(expert);
      return upper_[e] - (e > 0 ? upper_[e - 1] : 0);
    };
    int expert = 0;
    for (std::uint64_t n = 0; n < most_draws; ++n) {
      const std::uint64_t at =
          random_bits(options_.seed + 5, token, i * most_draws + n) % upper_.back();
      expert =
          static_cast<int>(std::upper_bound(upper_.begin(), upper_.end(), at) - upper_.begin());
      if (!chosen(expert)) break;
    }
    const auto next = [&] { expert = (expert + 1) % static_cast<int>(options_.experts); };
    const bool idle = options_.rule.kind == RoutingKind::idle_rank;
    while (chosen(expert) || (idle && share_of(expert) == 0)) next();
    experts[i] = expert;
  }
}

int Routing::weight(std::size_t token, std::size_t k) const {
  return static_cast<int>(1 + (k + random_bits(options_.seed + 6, token, 0)) % 3);
}

RoutingLoad load_of(const Routing& routing, std::size_t experts) {
  const auto n = static_cast<std::size_t>(routing.ranks());
  std::vector<std::size_t> by_expert(experts), by_rank(n), in(n), out(n);
  std::vector<int> chosen(routing.top_k());
  std::vector<std::size_t> seen(n, std::numeric_limits<std::size_t>::max());  // the last token
  RoutingLoad load;
  for (std::size_t r = 0; r < n; ++r) {
    const std::size_t end = routing.first_token(static_cast<int>(r) + 1);
    for (std::size_t t = routing.first_token(static_cast<int>(r)); t < end; ++t) {
      routing.choose(t, chosen);
      for (const int expert : chosen) {
        const auto home = static_cast<std::size_t>(routing.home(expert));
        ++by_expert[static_cast<std::size_t>(expert)];
        ++by_rank[home];
        if (home == r || seen[home] == t) continue;
        seen[home] = t;
        ++out[r];
        ++in[home];
        ++load.wire_tokens;
      }
    }
  }
  const auto over_mean = [](const std::vector<std::size_t>& all) {
    const auto sum = static_cast<double>(std::accumulate(all.begin(), all.end(), std::size_t{0}));
    if (sum == 0) return 0.0;
    return static_cast<double>(*std::max_element(all.begin(), all.end())) *
           static_cast<double>(all.size()) / sum;
  };
  load.expert = over_mean(by_expert);
  load.rank = over_mean(by_rank);
  load.busiest_pairs = *std::max_element(by_rank.begin(), by_rank.end());
  load.busiest_tokens =
      std::max(*std::max_element(in.begin(), in.end()), *std::max_element(out.begin(), out.end()));
  return load;
}

}  // namespace ccl_tests
