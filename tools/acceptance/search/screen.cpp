#include "tools/acceptance/search/screen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "src/measure/statistics.hpp"

namespace ccl_tests::acceptance {

std::size_t below(Random& random, std::size_t n) {
  const auto range = static_cast<std::uint64_t>(n);
  const std::uint64_t whole = Random::max() - Random::max() % range;  // a multiple of n
  std::uint64_t value = random();
  while (value >= whole) value = random();
  return static_cast<std::size_t>(value % range);
}

bool contains(const std::vector<int>& hosts, int host) {
  return std::ranges::find(hosts, host) != hosts.end();
}

std::vector<Round> circle(int hosts) {
  if (hosts < 2) return {};
  const int turning = hosts - 1 + hosts % 2;  // an odd number of hosts gets a dummy
  std::vector<Round> rounds;
  for (int shift = 0; shift < turning; ++shift) {
    Round round;
    if (hosts % 2 == 0) round.push_back({shift, turning});
    for (int i = 1; i <= turning / 2; ++i)
      round.push_back({(shift + i) % turning, (shift + turning - i) % turning});
    rounds.push_back(std::move(round));
  }
  return rounds;
}

Tournaments::Tournaments(std::vector<int> hosts, Random& random)
    : hosts_(std::move(hosts)), random_(random) {}

Round Tournaments::next() {
  if (hosts_.size() < 2) return {};
  if (left_.empty()) {
    shuffle(hosts_, random_);
    left_ = circle(static_cast<int>(hosts_.size()));
    shuffle(left_, random_);
  }
  Round round = std::move(left_.back());
  left_.pop_back();
  for (HostPair& pair : round) {
    pair = {hosts_[static_cast<std::size_t>(pair.a)], hosts_[static_cast<std::size_t>(pair.b)]};
    if (below(random_, 2) == 1) std::swap(pair.a, pair.b);
  }
  return round;
}

PartnerRounds::PartnerRounds(std::vector<int> good, Random& random)
    : good_(std::move(good)), random_(random) {
  shuffle(good_, random_);
}

Round PartnerRounds::next(const std::vector<int>& suspects) {
  Round round;
  std::vector<int> others;
  const std::size_t first = suspects.size() > good_.size() ? turn_ : 0;
  for (std::size_t i = 0; i < good_.size(); ++i) {
    const int partner = good_[(turn_ + i) % good_.size()];
    if (i < suspects.size())
      round.push_back({suspects[(first + i) % suspects.size()], partner});
    else
      others.push_back(partner);
  }
  ++turn_;
  shuffle(others, random_);
  for (std::size_t i = 0; i + 1 < others.size(); i += 2)
    round.push_back({others[i], others[i + 1]});
  for (HostPair& pair : round)
    if (below(random_, 2) == 1) std::swap(pair.a, pair.b);
  return round;
}

std::vector<int> first_numbers(std::size_t n) {
  std::vector<int> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

IntraRackRounds::IntraRackRounds(const Racks& racks, Random& random) {
  for (const std::vector<int>& rack : racks) racks_.emplace_back(rack, random);
}

Round IntraRackRounds::next() {
  Round all;
  for (Tournaments& rack : racks_) {
    const Round round = rack.next();
    all.insert(all.end(), round.begin(), round.end());
  }
  return all;
}

InterRackRounds::InterRackRounds(Racks racks, Random& random)
    : racks_(std::move(racks)), random_(random), matchings_(first_numbers(racks_.size()), random) {}

Round InterRackRounds::next() {
  Round round;
  for (const HostPair& match : matchings_.next()) {
    std::vector<int>& from = racks_[static_cast<std::size_t>(match.a)];
    std::vector<int>& to = racks_[static_cast<std::size_t>(match.b)];
    shuffle(from, random_);
    shuffle(to, random_);
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i)
      round.push_back({from[i], to[i]});
  }
  return round;
}

std::optional<double> value_of(const Transfer& transfer, Statistic statistic) {
  const auto is_time = [](double seconds) { return std::isfinite(seconds) && seconds > 0; };
  if (statistic == Statistic::time)
    return is_time(transfer.seconds) ? std::optional(std::log(transfer.seconds)) : std::nullopt;
  if (!is_time(transfer.p50) || !is_time(transfer.p95)) return std::nullopt;
  return std::log(transfer.p95 / transfer.p50);
}

std::vector<Observation> observations(const std::vector<std::vector<PairTimes>>& rounds,
                                      Statistic statistic, std::size_t rounds_per_group) {
  std::vector<Observation> seen;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const std::size_t group = round / rounds_per_group;
    for (const PairTimes& pair : rounds[round]) {
      const auto [a, b] = pair.hosts;
      if (const auto there = value_of(pair.forward, statistic))
        seen.push_back({a, b, group, *there});
      if (const auto back = value_of(pair.backward, statistic))
        seen.push_back({b, a, group, *back});
    }
  }
  return seen;
}

std::vector<PairTimes> TrackingMeasurer::measure(const Round& round) {
  ++rounds_;
  std::vector<PairTimes> times = inner_.measure(round);
  for (const HostPair& pair : round)
    for (const int host : {pair.a, pair.b}) ++missed_[static_cast<std::size_t>(host)];
  for (const PairTimes& pair : times) {
    if (!value_of(pair.forward, Statistic::time) && !value_of(pair.backward, Statistic::time))
      continue;
    for (const int host : {pair.hosts.a, pair.hosts.b}) missed_[static_cast<std::size_t>(host)] = 0;
  }
  return times;
}

bool TrackingMeasurer::enlarge() {
  if (!inner_.enlarge()) return false;
  rounds_ = 0;
  return true;
}

namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double suspect_z = 3;  // low on purpose: a false suspect costs rounds, not a false name
constexpr double fast_z = 4;     // from which a host counts as faster than the others

std::vector<double> finite(const std::vector<double>& values) {
  std::vector<double> kept;
  for (const double value : values)
    if (std::isfinite(value)) kept.push_back(value);
  return kept;
}

Studentised studentise(std::vector<double> effects, const std::vector<double>& errors,
                       std::size_t hosts) {
  Studentised result;
  const double middle = median(finite(effects));
  for (double& effect : effects) effect -= middle;
  result.spread = spread_of(effects, hosts < 8);
  result.error = median(finite(errors));
  for (std::size_t host = 0; host < effects.size(); ++host)
    result.z.push_back(effects[host] / std::max({errors[host], result.spread, least_sigma}));
  result.effect = std::move(effects);
  return result;
}

double standard_error(double sigma, std::size_t observations) {
  return 1.05 * sigma / std::sqrt(static_cast<double>(observations));
}

PerWay<Studentised> all_ways(const Effects& fit, std::size_t hosts) {
  PerWay<std::vector<double>> effect, error;
  for (std::size_t host = 0; host < fit.sending.size(); ++host) {
    const bool known = fit.sent[host] > 0 && fit.received[host] > 0;
    const double s = known ? fit.sending[host] : nothing;
    const double q = known ? fit.receiving[host] : nothing;
    const double sent = known ? standard_error(fit.sigma, fit.sent[host]) : nothing;
    const double received = known ? standard_error(fit.sigma, fit.received[host]) : nothing;
    effect[index(Way::sending)].push_back(s);
    effect[index(Way::receiving)].push_back(q);
    effect[index(Way::both)].push_back((s + q) / 2);
    error[index(Way::sending)].push_back(sent);
    error[index(Way::receiving)].push_back(received);
    error[index(Way::both)].push_back(std::hypot(sent, received) / 2);
  }
  PerWay<Studentised> result;
  for (const Way way : ways)
    result[index(way)] = studentise(std::move(effect[index(way)]), error[index(way)], hosts);
  return result;
}

// Returns whether more pairs are faster, nearly always, than chance makes, or a quarter of all transfers. A pair runs
// at its slower end: few good hosts among bad ones are fast among themselves only, and each time. A buffer that takes
// some messages moves no median; a quarter of all transfers may hide who is slow.
bool many_fast(std::span<const Observation> seen, const Effects& fit, std::size_t hosts,
               double smallest) {
  struct Count {
    std::size_t fast = 0, all = 0;
  };
  const double cut = -std::max(4 * fit.sigma, smallest);
  std::map<std::pair<int, int>, Count> pairs;  // by both hosts
  Count transfers;
  for (std::size_t i = 0; i < seen.size(); ++i)
    for (Count* one : {&transfers, &pairs[std::minmax(seen[i].from, seen[i].to)]}) {
      ++one->all;
      one->fast += fit.residuals[i] < cut ? 1 : 0;
    }
  if (4 * transfers.fast > transfers.all) return true;
  const double share = static_cast<double>(transfers.fast) / static_cast<double>(transfers.all);
  double fast = 0, by_chance = 0;  // pairs
  for (const auto& [pair, count] : pairs) {
    const std::size_t nearly_all = (3 * count.all + 3) / 4;
    fast += count.fast >= nearly_all ? 1 : 0;
    by_chance += binomial_tail(count.all, nearly_all, share);
  }
  const double few = hosts < 8 ? 0 : 0.02 * static_cast<double>(pairs.size());
  return fast > by_chance + 3 * std::sqrt(by_chance) + few;
}

}  // namespace

Screen screen(std::span<const Observation> seen, const Effects& fit, double smallest) {
  Screen found;
  found.sigma = fit.sigma;
  for (std::size_t host = 0; host < fit.sending.size(); ++host)
    found.hosts += fit.sent[host] > 0 && fit.received[host] > 0 ? 1 : 0;
  if (!std::isfinite(fit.sigma) || found.hosts < fewest_named) return found;
  found.said_enough = true;
  found.way = all_ways(fit, found.hosts);
  for (std::size_t host = 0; host < fit.sending.size(); ++host) {
    bool slow = false;
    for (const Studentised& way : found.way) {
      slow = slow || (way.z[host] > suspect_z && way.effect[host] > smallest / 2);
      if (way.z[host] < -fast_z && way.effect[host] < -smallest) found.someone_fast = true;
    }
    if (slow) found.suspects.push_back(static_cast<int>(host));
  }
  const Studentised& both = found.way[index(Way::both)];
  const double whole_spread = spread_of(both.effect, false);
  found.grouped = whole_spread > std::max(3 * both.error, smallest / 2);
  found.fast_pairs = many_fast(seen, fit, found.hosts, smallest);
  return found;
}

std::size_t rounds_needed(double sigma, double slowdown, std::size_t hosts) {
  const double share = 7.5 * sigma / -std::log1p(-slowdown);
  double rounds = std::ceil(share * share);
  if (hosts < 8) rounds *= 2;
  const std::size_t fewest = std::max<std::size_t>(fewest_rounds, hosts < 32 ? 20 : 0);
  if (!(rounds < static_cast<double>(most_rounds))) return most_rounds;
  return std::max(static_cast<std::size_t>(rounds), fewest);
}

Detectable detectable(double sigma, std::size_t rounds, std::size_t hosts, double smallest) {
  const double factor = hosts < 8 ? 7.5 * std::sqrt(2.0) : 7.5;
  const double screened = factor * sigma / std::sqrt(static_cast<double>(rounds));
  // The last look has a quantile near 4.3 and a power of 95 %, (4.3 + 1.645) 1.2533 sigma / sqrt(k).
  const double confirmed = 7.5 * sigma / std::sqrt(static_cast<double>(confirm_looks.back()));
  const double named = 1.3 * smallest;  // an effect at the limit itself is found half the time
  const double one_way = std::max({screened, confirmed, named});
  const double both_ways = std::max(std::max(screened, confirmed) / std::sqrt(2.0), named);
  return {-std::expm1(-both_ways), -std::expm1(-one_way)};
}

}  // namespace ccl_tests::acceptance
