#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "src/measure/statistics.hpp"
#include "tools/acceptance/search/confirm.hpp"

namespace ccl_tests::acceptance {
namespace {

// The residuals of a pair, first those from the lower to the higher number.
struct Residuals {
  std::vector<double> up, down;
};

// A median, and its standard error.
struct Estimate {
  double value = 0, error = std::numeric_limits<double>::infinity();
};

Estimate direction(std::vector<double> residuals, double sigma) {
  const auto n = static_cast<double>(residuals.size());
  // The median's variance is up to pi / 2 of the mean's, which it equals of one or two values.
  const double loss = residuals.size() > 2 ? 1.2533 : 1;
  return {median(std::move(residuals)), loss * sigma / std::sqrt(n)};
}

// Leaves out the observations of links, but not where a host would lose half of its own.
std::vector<Observation> without(const std::vector<LinkFinding>& links,
                                 std::span<const Observation> seen, std::size_t hosts) {
  std::vector<double> left(hosts);  // of each host's observations, above half of them
  std::map<std::pair<int, int>, double> of_pair;
  const auto at = [&](int host) -> double& { return left[static_cast<std::size_t>(host)]; };
  for (const Observation& one : seen) {
    at(one.from) += 0.5;
    at(one.to) += 0.5;
    ++of_pair[std::minmax(one.from, one.to)];
  }
  std::set<std::pair<int, int>> left_out;
  for (const LinkFinding& link : links) {
    const std::pair<int, int> pair = std::minmax(link.hosts.a, link.hosts.b);
    const double lost = of_pair[pair];
    if (at(pair.first) <= lost || at(pair.second) <= lost) continue;
    if (!left_out.insert(pair).second) continue;
    at(pair.first) -= lost;
    at(pair.second) -= lost;
  }
  std::vector<Observation> rest;
  std::ranges::copy_if(seen, std::back_inserter(rest), [&](const Observation& one) {
    return !left_out.contains(std::minmax(one.from, one.to));
  });
  return rest;
}

constexpr std::size_t controls_wanted = 4;  // hosts a round whose times are the baseline

// A candidate and the values of its repeats.
struct Case {
  LinkCandidate candidate;
  std::vector<double> values;
};

std::pair<int, int> ordered(HostPair pair) { return std::minmax(pair.a, pair.b); }

// Returns cases whose pairs share no host and leave enough hosts as controls. Takes those out of `waiting`.
std::vector<Case*> take_disjoint(std::vector<Case*>& waiting, std::size_t hosts) {
  std::vector<Case*> taken, left;
  std::set<int> busy;
  for (Case* const one : waiting) {
    const auto [a, b] = one->candidate.hosts;
    const bool fits = taken.empty() || busy.size() + 2 + controls_wanted <= hosts;
    if (fits && !busy.contains(a) && !busy.contains(b)) {
      taken.push_back(one);
      busy.insert({a, b});
    } else {
      left.push_back(one);
    }
  }
  waiting = std::move(left);
  return taken;
}

// Returns a round of the cases `taken`, whose pairs come first, and pairs of the other hosts that are not candidates.
Round round_of(const std::vector<Case*>& taken, const std::set<std::pair<int, int>>& suspected,
               std::vector<int> good, Random& random) {
  Round round;
  std::set<int> busy;
  for (const Case* const one : taken) {
    round.push_back(one->candidate.hosts);
    busy.insert({round.back().a, round.back().b});
  }
  std::erase_if(good, [&](int host) { return busy.contains(host); });
  shuffle(good, random);
  while (good.size() > 1) {
    const int host = good.back();
    good.pop_back();
    const auto partner = std::ranges::find_if(good, [&](int other) {
      return !suspected.contains(ordered({host, other}));
    });
    if (partner == good.end()) continue;
    round.push_back({host, *partner});
    good.erase(partner);
  }
  return round;
}

// Adds the values of a round's cases, without the effects of their hosts, beside the median of its controls.
void add_values(const std::vector<PairTimes>& times, const std::vector<Case*>& taken,
                const Effects& fit) {
  std::map<std::pair<int, int>, double> values;  // by the sending and the receiving host
  for (const Observation& one : observations({times}, Statistic::time))
    values[{one.from, one.to}] = one.value - fit.sending[static_cast<std::size_t>(one.from)] -
                                 fit.receiving[static_cast<std::size_t>(one.to)];
  std::set<std::pair<int, int>> cases;
  for (const Case* const one : taken) cases.insert(ordered(one->candidate.hosts));
  std::vector<double> controls;
  for (const auto& [hosts, value] : values)
    if (!cases.contains(ordered({hosts.first, hosts.second}))) controls.push_back(value);
  if (controls.empty()) return;
  const double baseline = median(std::move(controls));
  for (Case* const one : taken) {
    const auto [a, b] = one->candidate.hosts;
    const auto there = values.find({a, b}), back = values.find({b, a});
    if (there == values.end()) continue;
    if (one->candidate.one_way)
      one->values.push_back(there->second - baseline);
    else if (back != values.end())
      one->values.push_back((there->second + back->second) / 2 - baseline);
  }
}

Estimate fresh(const Case& one, double sigma) {
  if (one.values.empty()) return {};
  const auto n = static_cast<double>(one.values.size());
  const double directions = one.candidate.one_way ? 1 : 2;
  return {median(one.values), 1.2533 * sigma / std::sqrt(n * directions)};
}

Screen measure_between(PairMeasurer& measurer, InterRackRounds& source, std::size_t hosts,
                       double smallest) {
  std::vector<std::vector<PairTimes>> measured;
  for (std::size_t i = 0; i < fewest_rounds; ++i)
    measured.push_back(measurer.measure(source.next()));
  const std::vector<Observation> seen = observations(measured, Statistic::time);
  return screen(seen, fit_effects(seen, hosts), smallest);
}

bool is_suspected(const std::vector<int>& rack, const Screen& inside, const Screen& between) {
  std::size_t outside_slow = 0, inside_slow = 0;
  for (const int host : rack) {
    outside_slow += contains(between.suspects, host) ? 1 : 0;
    inside_slow += contains(inside.suspects, host) ? 1 : 0;
  }
  return !rack.empty() && 2 * outside_slow >= rack.size() && 2 * inside_slow < rack.size();
}

// Returns the median effect of the rack's hosts, with its standard error from their spread.
Size size_of_rack(const std::vector<int>& rack, const std::vector<Screen>& series) {
  std::vector<double> effects;
  for (const Screen& one : series)
    for (const int host : rack) {
      const double effect = one.way[index(Way::both)].effect[static_cast<std::size_t>(host)];
      if (std::isfinite(effect)) effects.push_back(effect);
    }
  if (effects.empty()) return {};
  constexpr double of_medians = 1.2533;  // sqrt(pi / 2): their standard error over that of means
  const double root = std::sqrt(static_cast<double>(effects.size()));
  return size_of(median(effects), of_medians * deviation_from_median(effects) / root);
}

}  // namespace

std::vector<LinkCandidate> link_candidates(std::span<const Observation> seen, const Effects& fit,
                                           const std::set<int>& without, double smallest) {
  std::map<std::pair<int, int>, Residuals> pairs;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto [low, high] = std::minmax(seen[i].from, seen[i].to);
    if (without.contains(low) || without.contains(high)) continue;
    Residuals& pair = pairs[{low, high}];
    (seen[i].from == low ? pair.up : pair.down).push_back(fit.residuals[i]);
  }
  const double sigma = std::max(fit.sigma, least_sigma);
  std::vector<LinkCandidate> found;
  for (const auto& [hosts, residuals] : pairs) {
    if (residuals.up.empty() || residuals.down.empty()) continue;
    const Estimate up = direction(residuals.up, sigma), down = direction(residuals.down, sigma);
    const double both = (up.value + down.value) / 2;
    const double deviation = std::hypot(up.error, down.error) / 2;
    const bool up_slow = up.value > std::max(4 * up.error, 1.5 * smallest);
    const bool down_slow = down.value > std::max(4 * down.error, 1.5 * smallest);
    const auto [low, high] = hosts;
    if (both > std::max(2.8 * deviation, smallest) && up.value > up.error &&
        down.value > down.error)
      found.push_back({{low, high}, false, both});
    else if (up_slow)
      found.push_back({{low, high}, true, up.value});
    else if (down_slow)
      found.push_back({{high, low}, true, down.value});
  }
  std::ranges::stable_sort(found, [](const LinkCandidate& a, const LinkCandidate& b) {
    return std::pair(!a.one_way, a.residual) > std::pair(!b.one_way, b.residual);
  });
  const auto hosts = static_cast<std::size_t>(
      std::ranges::count_if(fit.sent, [](std::size_t sent) { return sent > 0; }));
  if (found.size() > 2 * hosts) found.resize(2 * hosts);
  return found;
}

void size_by_the_rest(std::vector<LinkFinding>& named, std::span<const Observation> seen,
                      const Effects& fit, std::size_t hosts) {
  if (named.empty()) return;
  const Effects rest = fit_effects(without(named, seen, hosts), hosts);
  const auto taken = [&](int from, int to) {  // of the link's time, by its hosts' effects
    const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
    return fit.sending[a] - rest.sending[a] + fit.receiving[b] - rest.receiving[b];
  };
  for (LinkFinding& link : named) {
    const auto [a, b] = link.hosts;
    const double more = link.one_way ? taken(a, b) : (taken(a, b) + taken(b, a)) / 2;
    for (double* slowdown : {&link.size.slowdown, &link.size.low, &link.size.high})
      *slowdown = 1 - (1 - *slowdown) * std::exp(-more);
  }
}

LinkSearch confirm_links(PairMeasurer& measurer, const std::vector<LinkCandidate>& candidates,
                         const std::vector<int>& good, const Effects& fit, double smallest,
                         Random& random) {
  LinkSearch search;
  const double sigma = std::max(fit.sigma, least_sigma);
  const double last =
      normal_quantile_above(1e-3 / std::max<double>(1, static_cast<double>(candidates.size())));
  std::set<std::pair<int, int>> suspected;
  for (const LinkCandidate& one : candidates) suspected.insert(ordered(one.hosts));
  std::vector<LinkCandidate> left = candidates;
  for (const std::size_t repeats : {std::size_t{4}, std::size_t{8}}) {
    std::vector<Case> cases;
    for (const LinkCandidate& one : left) cases.push_back({one, {}});
    for (std::size_t repeat = 0; repeat < 2 * repeats; ++repeat) {
      std::vector<Case*> waiting;
      for (Case& one : cases)
        if (repeat < repeats || one.candidate.one_way) waiting.push_back(&one);
      while (!waiting.empty()) {
        const std::vector<Case*> taken = take_disjoint(waiting, good.size());
        add_values(measurer.measure(round_of(taken, suspected, good, random)), taken, fit);
      }
    }
    left.clear();
    for (const Case& one : cases) {
      const Estimate found = fresh(one, sigma);
      const bool large = found.value >= smallest;
      search.open += one.values.empty() ? 1 : 0;
      if (repeats == 4 && large && found.value > 2 * found.error) left.push_back(one.candidate);
      if (repeats != 8) continue;
      if (large && found.value > last * found.error)
        search.named.push_back(
            {one.candidate.hosts, one.candidate.one_way, size_of(found.value, found.error)});
      else if (found.value + 1.96 * found.error >= 1.5 * smallest && large)
        ++search.open;
    }
  }
  return search;
}

std::vector<UplinkFinding> find_uplinks(PairMeasurer& measurer, const Racks& racks,
                                        const Screen& inside, double smallest, Random& random) {
  std::size_t hosts = 0;
  for (const std::vector<int>& rack : racks) hosts += rack.size();
  InterRackRounds source(racks, random);
  std::vector<int> blamed = first_numbers(racks.size());
  std::vector<Screen> confirmations;  // the last two series
  for (int series = 0; series < 3 && !blamed.empty(); ++series) {
    const Screen between = measure_between(measurer, source, hosts, smallest);
    std::erase_if(blamed, [&](int rack) {
      return !is_suspected(racks[static_cast<std::size_t>(rack)], inside, between);
    });
    if (series > 0) confirmations.push_back(between);
  }
  std::vector<UplinkFinding> named;
  for (const int rack : blamed)
    named.push_back({rack, size_of_rack(racks[static_cast<std::size_t>(rack)], confirmations)});
  return named;
}

}  // namespace ccl_tests::acceptance
