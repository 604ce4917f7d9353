#include "tools/acceptance/search/confirm.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include "src/measure/statistics.hpp"

namespace ccl_tests::acceptance {
namespace {

std::vector<int> undecided_hosts(const std::vector<Confirmation>& suspects) {
  std::vector<int> hosts;
  for (const Confirmation& one : suspects)
    if (one.decision == Decision::open && !contains(hosts, one.suspect.host))
      hosts.push_back(one.suspect.host);
  return hosts;
}

// The rounds of all racks at once.
class RackPartners {
 public:
  RackPartners(const ConfirmPlan& plan, Random& random) : rack_of_(plan.rack_of) {
    std::map<int, std::vector<int>> good;
    for (const int host : plan.good) good[rack(host)].push_back(host);
    for (const auto& [number, hosts] : good) racks_.emplace(number, PartnerRounds(hosts, random));
  }
  Round next(const std::vector<int>& suspects) {
    Round all;
    for (auto& [number, partners] : racks_) {
      std::vector<int> own;
      for (const int host : suspects)
        if (rack(host) == number) own.push_back(host);
      const Round round = partners.next(own);
      all.insert(all.end(), round.begin(), round.end());
    }
    return all;
  }

 private:
  int rack(int host) const {
    return rack_of_.empty() ? 0 : rack_of_[static_cast<std::size_t>(host)];
  }

  const std::vector<int>& rack_of_;
  std::map<int, PartnerRounds> racks_;
};

// The values of one host's round beside the median of its controls. NaN is missing.
struct RoundValue {
  double sending = std::numeric_limits<double>::quiet_NaN();
  double receiving = std::numeric_limits<double>::quiet_NaN();
};

// The values of one statistic in a series of rounds, beside the medians of the rounds' controls.
class Ledger {
 public:
  explicit Ledger(Statistic statistic) : statistic_(statistic) {}

  void add(const std::vector<PairTimes>& times, const std::vector<int>& suspects) {
    std::vector<double> controls;
    for (const PairTimes& pair : times) {
      if (contains(suspects, pair.hosts.a) || contains(suspects, pair.hosts.b)) continue;
      if (const auto there = value_of(pair.forward, statistic_)) controls.push_back(*there);
      if (const auto back = value_of(pair.backward, statistic_)) controls.push_back(*back);
    }
    if (controls.empty()) return;
    ++rounds_;
    control_values_ += static_cast<double>(controls.size());
    const double baseline = median(std::move(controls));
    for (const PairTimes& pair : times) {
      const double there = above(pair.forward, baseline), back = above(pair.backward, baseline);
      const bool a_suspected = contains(suspects, pair.hosts.a);
      const bool b_suspected = contains(suspects, pair.hosts.b);
      // A suspect's partner is not a control in this round.
      if (a_suspected || !b_suspected) values_[pair.hosts.a].push_back({there, back});
      if (b_suspected || !a_suspected) values_[pair.hosts.b].push_back({back, there});
    }
  }

  // Returns a host's values, an element a round.
  std::vector<RoundValue> of(int host) const {
    const auto found = values_.find(host);
    return found == values_.end() ? std::vector<RoundValue>() : found->second;
  }
  // Returns the number of control values a round, in the mean. There must be a round.
  double controls() const { return control_values_ / rounds_; }

 private:
  double above(const Transfer& transfer, double baseline) const {
    const auto value = value_of(transfer, statistic_);
    return value ? *value - baseline : std::numeric_limits<double>::quiet_NaN();
  }

  Statistic statistic_;
  std::map<int, std::vector<RoundValue>> values_;  // by number of the host
  double rounds_ = 0, control_values_ = 0;
};

constexpr std::size_t enough_controls = 8;  // to know what healthy hosts look like

std::vector<double> values_of(const std::vector<RoundValue>& rounds, Way way) {
  std::vector<double> values;
  for (const auto& [sending, receiving] : rounds) {
    const double value = way == Way::sending     ? sending
                         : way == Way::receiving ? receiving
                                                 : (sending + receiving) / 2;
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

// Returns whether most values are above 0: 7 of 8, 12 of 16, 22 of 32; of both directions 13 of 16, 23 of 32, 42 of 64.
bool mostly_above(const std::vector<RoundValue>& rounds, Way way) {
  std::vector<double> values = values_of(rounds, way == Way::both ? Way::sending : way);
  if (way == Way::both)
    std::ranges::copy(values_of(rounds, Way::receiving), std::back_inserter(values));
  const auto above = std::ranges::count_if(values, [](double value) { return value > 0; });
  return binomial_tail(values.size(), static_cast<std::uint64_t>(above), 0.5) <=
         (way == Way::both ? 0.011 : 0.04);
}

// Returns the medians of the controls that were controls in at least half as many rounds as `rounds`.
std::vector<double> control_medians(const Ledger& values, const std::vector<int>& controls, Way way,
                                    std::size_t rounds) {
  std::vector<double> medians;
  for (const int host : controls) {
    std::vector<double> own = values_of(values.of(host), way);
    if (2 * own.size() >= rounds) medians.push_back(median(std::move(own)));
  }
  return medians;
}

// Judges one way of a suspect beside the controls. quantile: the standard errors that its median has to be above 0.
Judged judge(const Ledger& values, int suspect, const std::vector<int>& controls, Way way,
             const Noise& noise, double quantile, double smallest) {
  Judged judged;
  const std::vector<RoundValue> rounds = values.of(suspect);
  const std::vector<double> own = values_of(rounds, way);
  if (own.size() < confirm_looks.front() / 2) return judged;
  const auto k = static_cast<double>(own.size());
  judged.effect = median(own);
  // The variance of a median is pi / 2 of the mean's; the baseline is a median, too.
  double variance = 1.57 * noise.sigma * noise.sigma / k * (1 + 2 / values.controls());
  if (way == Way::both) variance /= 2;
  const std::vector<double> peers = control_medians(values, controls, way, own.size());
  const bool known_peers = peers.size() >= enough_controls;
  if (!known_peers) variance += noise.variance[index(way)];
  judged.error = std::sqrt(variance);
  if (known_peers) judged.error = std::max(judged.error, deviation_from_median(peers));
  const double largest = known_peers ? *std::ranges::max_element(peers) : 0;
  const double c = judged.effect;
  judged.blamed =
      c >= smallest && c - quantile * judged.error > 0 && c > largest && mostly_above(rounds, way);
  judged.cleared = c < smallest / 2 || c + 1.96 * judged.error < 1.5 * smallest;
  return judged;
}

void decide(Confirmation& one, const Ledger& values, const ConfirmPlan& plan, double quantile) {
  const Noise& noise = one.suspect.statistic == Statistic::time ? plan.time : plan.tail;
  bool blamed = false, cleared = true;
  for (const Way way : ways) {
    Judged& judged = one.way[index(way)];
    judged = judge(values, one.suspect.host, plan.good, way, noise, quantile, plan.smallest);
    blamed = blamed || judged.blamed;
    cleared = cleared && judged.cleared;
  }
  if (blamed)
    one.decision = Decision::blamed;
  else if (cleared)
    one.decision = Decision::cleared;
}

double slowdown(double effect) { return -std::expm1(-effect); }

// Returns the mean of both, weighted by their errors.
Judged pooled(const Judged& first, const Judged& second) {
  constexpr double least = 1e-9;  // fabrics without noise have no error
  const double u = 1 / std::pow(std::max(first.error, least), 2);
  const double v = 1 / std::pow(std::max(second.error, least), 2);
  return {.effect = (u * first.effect + v * second.effect) / (u + v),
          .error = std::sqrt(1 / (u + v))};
}

// A way is slow beside a slower one if it has half of its effect, or one that is worth naming and beyond its error.
bool slow_too(const Judged& way, const Judged& other) {
  return way.effect >= other.effect / 2 ||
         (way.effect >= usual_smallest && way.effect > 1.96 * way.error);
}

Way slow_at(const PerWay<Judged>& way) {
  const Judged& sending = way[index(Way::sending)];
  const Judged& receiving = way[index(Way::receiving)];
  if (sending.effect >= receiving.effect)
    return slow_too(receiving, sending) ? Way::both : Way::sending;
  return slow_too(sending, receiving) ? Way::both : Way::receiving;
}

}  // namespace

Noise noise_of(const Screen& screen) {
  Noise noise;
  noise.sigma = screen.sigma;
  for (const Way way : ways) {
    const Studentised& of = screen.way[index(way)];
    noise.variance[index(way)] = std::max(0.0, of.spread * of.spread - of.error * of.error);
  }
  return noise;
}

std::vector<Confirmation> confirm(PairMeasurer& measurer, const ConfirmPlan& plan, Random& random) {
  std::vector<Confirmation> found;
  for (const Suspect& suspect : plan.suspects) found.push_back({.suspect = suspect});
  if (plan.suspects.empty() || plan.good.size() < undecided_hosts(found).size() + 2) return found;
  const auto tests = static_cast<double>(ways.size() * plan.suspects.size() * confirm_looks.size());
  const double quantile = normal_quantile_above(plan.alpha / tests);
  Ledger time(Statistic::time), tail(Statistic::tail);
  RackPartners rounds(plan, random);
  std::size_t measured = 0;
  for (const std::size_t look : confirm_looks) {
    const std::vector<int> hosts = undecided_hosts(found);
    if (hosts.empty()) break;
    for (; measured < look; ++measured) {
      const std::vector<PairTimes> times = measurer.measure(rounds.next(hosts));
      time.add(times, hosts);
      tail.add(times, hosts);
    }
    for (Confirmation& one : found)
      if (one.decision == Decision::open)
        decide(one, one.suspect.statistic == Statistic::time ? time : tail, plan, quantile);
  }
  return found;
}

Size size_of(double effect, double error) {
  return {slowdown(effect), slowdown(effect - 1.96 * error), slowdown(effect + 1.96 * error)};
}

std::string_view text(Reason reason) {
  static constexpr std::array<std::string_view, 9> texts = {
      "no pair of hosts was measured",
      "fewer than 4 hosts cannot show which of them is slow",
      "too few pairs were measured to know the noise",
      "the noise hides the slowdown that has to be found",
      "too many hosts stand out: the others may be the ones that differ",
      "hosts fall into groups of different speed, or changed it: no telling which are slow",
      "some hosts or pairs are faster than the others: these may all be slow",
      "a suspect was neither blamed nor cleared",
      "a host stopped answering"};
  return texts.at(static_cast<std::size_t>(reason));
}

HostFinding host_finding(const Confirmation& first, const Confirmation* second,
                         const Noise& noise) {
  HostFinding found{.host = first.suspect.host, .size = {}};
  found.intermittent = first.suspect.statistic == Statistic::tail;
  if (first.decision == Decision::cleared) return found;
  found.verdict = HostVerdict::open;
  if (first.decision == Decision::open) return found;
  PerWay<Judged> way = first.way;
  if (second != nullptr && second->decision == Decision::cleared)
    found.verdict = HostVerdict::slow_for_a_while;
  if (second != nullptr && second->decision == Decision::blamed) {
    found.verdict = HostVerdict::blamed;
    for (std::size_t i = 0; i < way.size(); ++i) way[i] = pooled(first.way[i], second->way[i]);
  }
  found.slow_at = slow_at(way);
  const Judged& size = way[index(found.slow_at)];
  const double spread = std::sqrt(noise.variance[index(found.slow_at)]);
  found.size = size_of(size.effect, std::hypot(size.error, spread));
  return found;
}

}  // namespace ccl_tests::acceptance
