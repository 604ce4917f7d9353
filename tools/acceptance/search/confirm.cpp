#include "tools/acceptance/search/confirm.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "src/measure/statistics.hpp"
#include "tools/acceptance/search/screen.hpp"

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

// The values of one statistic in a series of rounds.
class Ledger {
 public:
  Ledger(Statistic statistic, std::size_t hosts) : statistic_(statistic) {
    values_.of.resize(hosts);
  }

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
    values_.controls = control_values_ / rounds_;
    const double baseline = median(std::move(controls));
    for (const PairTimes& pair : times) {
      const double there = above(pair.forward, baseline), back = above(pair.backward, baseline);
      const bool a_suspected = contains(suspects, pair.hosts.a);
      const bool b_suspected = contains(suspects, pair.hosts.b);
      // A suspect's partner is no control in this round.
      if (a_suspected || !b_suspected) of(pair.hosts.a).push_back({there, back});
      if (b_suspected || !a_suspected) of(pair.hosts.b).push_back({back, there});
    }
  }
  const RoundValues& values() const { return values_; }

 private:
  double above(const Transfer& transfer, double baseline) const {
    const auto value = value_of(transfer, statistic_);
    return value ? *value - baseline : std::numeric_limits<double>::quiet_NaN();
  }
  std::vector<RoundValue>& of(int host) { return values_.of[static_cast<std::size_t>(host)]; }

  Statistic statistic_;
  RoundValues values_;
  double rounds_ = 0, control_values_ = 0;
};

struct Ledgers {
  explicit Ledgers(std::size_t hosts)
      : time(Statistic::time, hosts), tail(Statistic::tail, hosts) {}
  const RoundValues& of(Statistic statistic) const {
    return (statistic == Statistic::time ? time : tail).values();
  }
  Ledger time, tail;
};

void decide(Confirmation& one, const Ledgers& ledgers, const ConfirmPlan& plan, double quantile) {
  const Statistic statistic = one.suspect.statistic;
  const RoundValues& values = ledgers.of(statistic);
  bool blamed = false, cleared = true;
  for (const Way way : ways) {
    const Judged judged =
        judge(values, one.suspect.host, plan.good, way,
              statistic == Statistic::time ? plan.time : plan.tail, quantile, plan.limits);
    one.way[index(way)] = judged;
    blamed = blamed || judged.blamed;
    cleared = cleared && judged.cleared;
  }
  if (blamed)
    one.decision = Decision::blamed;
  else if (cleared)
    one.decision = Decision::cleared;
  one.values = values.of[static_cast<std::size_t>(one.suspect.host)];
}

void note_time(Confirmation& one, const std::vector<PairTimes>& times) {
  for (const PairTimes& pair : times) {
    if (pair.hosts.a != one.suspect.host && pair.hosts.b != one.suspect.host) continue;
    if (one.began == 0) one.began = pair.began;
    one.ended = pair.began;
  }
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

Confirmations confirm(PairMeasurer& measurer, const ConfirmPlan& plan, Random& random) {
  Confirmations found;
  int largest = 0;
  for (const Suspect& suspect : plan.suspects) {
    found.suspects.push_back({.suspect = suspect, .way = {}, .values = {}});
    largest = std::max(largest, suspect.host);
  }
  for (const int host : plan.good) largest = std::max(largest, host);
  if (plan.suspects.empty() || plan.good.size() < undecided_hosts(found.suspects).size() + 2)
    return found;
  const auto tests =
      static_cast<double>(ways.size() * plan.suspects.size() * plan.limits.looks.size());
  const double quantile = normal_quantile_above(plan.alpha / tests);
  Ledgers ledgers(static_cast<std::size_t>(largest) + 1);
  RackPartners rounds(plan, random);
  for (const std::size_t look : plan.limits.looks) {
    const std::vector<int> hosts = undecided_hosts(found.suspects);
    if (hosts.empty()) break;
    for (; found.rounds < look; ++found.rounds) {
      const std::vector<PairTimes> times = measurer.measure(rounds.next(hosts));
      ledgers.time.add(times, hosts);
      ledgers.tail.add(times, hosts);
      for (Confirmation& one : found.suspects)
        if (one.decision == Decision::open) note_time(one, times);
    }
    for (Confirmation& one : found.suspects)
      if (one.decision == Decision::open) decide(one, ledgers, plan, quantile);
  }
  return found;
}

namespace {

constexpr std::size_t enough_controls = 8;  // to know what healthy hosts look like

double value_of(const RoundValue& round, Way way) {
  switch (way) {
    case Way::sending: return round.sending;
    case Way::receiving: return round.receiving;
    case Way::both: return (round.sending + round.receiving) / 2;
  }
  return 0;
}

std::vector<double> values_of(const std::vector<RoundValue>& rounds, Way way) {
  std::vector<double> values;
  for (const RoundValue& round : rounds)
    if (const double value = value_of(round, way); std::isfinite(value)) values.push_back(value);
  return values;
}

std::size_t above_zero(const std::vector<double>& values) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [](double value) { return value > 0; }));
}

// Returns whether most single values lie above 0: 7 of 8, 12 of 16, 22 of 32, or of both
// directions together 13 of 16, 23 of 32, 42 of 64.
bool mostly_above(const std::vector<RoundValue>& rounds, Way way) {
  if (way != Way::both) {
    const std::vector<double> values = values_of(rounds, way);
    return binomial_tail(values.size(), above_zero(values), 0.5) <= 0.04;
  }
  std::vector<double> values = values_of(rounds, Way::sending);
  const std::vector<double> back = values_of(rounds, Way::receiving);
  values.insert(values.end(), back.begin(), back.end());
  return binomial_tail(values.size(), above_zero(values), 0.5) <= 0.011;
}

// The medians of the controls that were controls in at least half as many rounds as `rounds`.
std::vector<double> control_medians(const RoundValues& values, std::span<const int> controls,
                                    Way way, std::size_t rounds) {
  std::vector<double> medians;
  for (const int host : controls) {
    std::vector<double> own = values_of(values.of[static_cast<std::size_t>(host)], way);
    if (2 * own.size() >= rounds) medians.push_back(median(std::move(own)));
  }
  return medians;
}

}  // namespace

Judged judge(const RoundValues& values, int suspect, std::span<const int> controls, Way way,
             const Noise& noise, double quantile, const Limits& limits) {
  Judged judged;
  const std::vector<RoundValue>& rounds = values.of[static_cast<std::size_t>(suspect)];
  const std::vector<double> own = values_of(rounds, way);
  if (own.size() < limits.looks.front() / 2 || values.controls <= 0) return judged;
  const auto k = static_cast<double>(own.size());
  judged.effect = median(own);
  // The variance of a median is pi / 2 of the mean's; the baseline is a median, too.
  double variance = 1.57 * noise.sigma * noise.sigma / k * (1 + 2 / values.controls);
  if (way == Way::both) variance /= 2;
  const std::vector<double> peers = control_medians(values, controls, way, own.size());
  const bool known_peers = peers.size() >= enough_controls;
  if (!known_peers) variance += noise.variance[index(way)];
  judged.error = std::sqrt(variance);
  if (known_peers) judged.error = std::max(judged.error, deviation_from_median(peers));
  const double largest = known_peers ? *std::max_element(peers.begin(), peers.end()) : 0;
  const double c = judged.effect;
  judged.blamed = c >= limits.smallest && c - quantile * judged.error > 0 && c > largest &&
                  mostly_above(rounds, way);
  judged.cleared = c < limits.smallest / 2 || c + 1.96 * judged.error < 1.5 * limits.smallest;
  return judged;
}

namespace {

double slowdown(double effect) { return -std::expm1(-effect); }

}  // namespace

Size size_of(double effect, double error) {
  return {slowdown(effect), slowdown(effect - 1.96 * error), slowdown(effect + 1.96 * error)};
}

std::string_view text(Reason reason) {
  switch (reason) {
    case Reason::nothing_measured: return "no pair of hosts was measured";
    case Reason::too_few_hosts: return "fewer than 4 hosts cannot show which of them is slow";
    case Reason::too_few_rounds: return "too few pairs were measured to know the noise";
    case Reason::too_noisy: return "the noise hides the slowdown that has to be found";
    case Reason::too_many_suspects:
      return "too many hosts stand out: the others may be the ones that differ";
    case Reason::hosts_form_groups:
      return "hosts fall into groups of different speed, or changed it: no telling which are slow";
    case Reason::some_are_faster:
      return "some hosts or pairs are faster than the others: these may all be slow";
    case Reason::undecided: return "a suspect was neither blamed nor cleared";
    case Reason::host_gone: return "a host stopped answering";
  }
  return "";
}

bool names_any(const Findings& findings) {
  return !findings.links.empty() || !findings.uplinks.empty() ||
         std::any_of(findings.hosts.begin(), findings.hosts.end(),
                     [](const HostFinding& one) { return one.verdict == HostVerdict::blamed; });
}

namespace {

// Returns the mean of both, weighted by their errors.
Judged pooled(const Judged& first, const Judged& second) {
  constexpr double least = 1e-9;  // fabrics without noise have no error
  const double u = 1 / std::pow(std::max(first.error, least), 2);
  const double v = 1 / std::pow(std::max(second.error, least), 2);
  return {.effect = (u * first.effect + v * second.effect) / (u + v),
          .error = std::sqrt(1 / (u + v))};
}

// A way counts as slow beside a slower other way if it has half of the other's effect, or one of
// its own that is worth naming and beyond its error.
bool slow_too(const Judged& way, const Judged& other) {
  return way.effect >= other.effect / 2 ||
         (way.effect >= Limits().smallest && way.effect > 1.96 * way.error);
}

Way slow_at(const PerWay<Judged>& way) {
  const Judged& sending = way[index(Way::sending)];
  const Judged& receiving = way[index(Way::receiving)];
  if (sending.effect >= receiving.effect)
    return slow_too(receiving, sending) ? Way::both : Way::sending;
  return slow_too(sending, receiving) ? Way::both : Way::receiving;
}

}  // namespace

HostFinding host_finding(const Confirmation& first, const std::optional<Confirmation>& second,
                         const Noise& noise) {
  HostFinding found;
  found.host = first.suspect.host;
  found.intermittent = first.suspect.statistic == Statistic::tail;
  if (first.decision == Decision::cleared) return found;
  found.verdict = HostVerdict::open;
  found.began = first.began;
  found.ended = first.ended;
  if (first.decision == Decision::open) return found;
  PerWay<Judged> way = first.way;
  if (second && second->decision == Decision::cleared)
    found.verdict = HostVerdict::slow_for_a_while;
  if (second && second->decision == Decision::blamed) {
    found.verdict = HostVerdict::blamed;
    found.ended = second->ended;
    for (std::size_t i = 0; i < way.size(); ++i) way[i] = pooled(first.way[i], second->way[i]);
  }
  found.slow_at = slow_at(way);
  const Judged& size = way[index(found.slow_at)];
  const double spread = std::sqrt(noise.variance[index(found.slow_at)]);
  found.size = size_of(size.effect, std::hypot(size.error, spread));
  return found;
}

}  // namespace ccl_tests::acceptance
