#include "tools/acceptance/search/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "src/core/error.hpp"

namespace ccl_tests::acceptance {

std::size_t below(Random& random, std::size_t n) {
  const auto range = static_cast<std::uint64_t>(n);
  const std::uint64_t whole = Random::max() - Random::max() % range;  // a multiple of n
  std::uint64_t value = random();
  while (value >= whole) value = random();
  return static_cast<std::size_t>(value % range);
}

bool contains(const std::vector<int>& hosts, int host) {
  return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
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

namespace {

std::vector<int> first_numbers(std::size_t n) {
  std::vector<int> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

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

InterRackRounds::InterRackRounds(Racks racks, double oversubscription, Random& random)
    : racks_(std::move(racks)),
      parts_(static_cast<std::size_t>(std::ceil(oversubscription))),
      random_(random),
      matchings_(first_numbers(racks_.size()), random) {
  if (!(oversubscription >= 1))
    throw UsageError("an uplink cannot carry more than the hosts of its rack: give 1 or more");
}

Round InterRackRounds::next() {
  if (left_.empty()) draw();
  if (left_.empty()) return {};
  Round round = std::move(left_.back());
  left_.pop_back();
  return round;
}

// Splits one matching of racks into parts. Each part has other hosts of the same racks.
void InterRackRounds::draw() {
  left_.resize(racks_.size() < 2 ? 0 : parts_);
  for (const HostPair& match : matchings_.next()) {
    std::vector<int>& from = racks_[static_cast<std::size_t>(match.a)];
    std::vector<int>& to = racks_[static_cast<std::size_t>(match.b)];
    shuffle(from, random_);
    shuffle(to, random_);
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i)
      left_[i % parts_].push_back({from[i], to[i]});
  }
  std::erase_if(left_, [](const Round& round) { return round.empty(); });
}

namespace {

bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0; }

}  // namespace

std::optional<double> value_of(const Transfer& transfer, Statistic statistic) {
  if (statistic == Statistic::time)
    return is_time(transfer.seconds) ? std::optional(std::log(transfer.seconds)) : std::nullopt;
  if (!is_time(transfer.p50) || !is_time(transfer.p95)) return std::nullopt;
  return std::log(transfer.p95 / transfer.p50);
}

std::vector<Observation> observations(std::span<const MeasuredRound> rounds, Statistic statistic,
                                      std::size_t rounds_per_group) {
  std::vector<Observation> seen;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const std::size_t group = round / rounds_per_group;
    for (const PairTimes& pair : rounds[round].times) {
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

}  // namespace ccl_tests::acceptance
