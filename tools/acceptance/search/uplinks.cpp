#include "tools/acceptance/search/uplinks.hpp"

#include <algorithm>
#include <cmath>

#include "src/measure/statistics.hpp"

namespace ccl_tests::acceptance {
namespace {

bool suspects(const Screen& screen, int host) {
  return std::binary_search(screen.suspects.begin(), screen.suspects.end(), host);
}

Screen measure_between(PairMeasurer& measurer, InterRackRounds& source, std::size_t rounds,
                       std::size_t hosts, const Limits& limits) {
  std::vector<MeasuredRound> measured;
  for (std::size_t i = 0; i < rounds; ++i) {
    const Round round = source.next();
    measured.push_back({round, measurer.measure(round)});
  }
  const std::vector<Observation> seen = observations(measured, Statistic::time);
  return screen(seen, fit_effects(seen, hosts), limits);
}

// The median effect of the rack's hosts, and its standard error from their spread.
Size size_of_rack(const std::vector<int>& rack, const std::vector<Screen>& confirmations) {
  std::vector<double> effects;
  for (const Screen& one : confirmations)
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

std::vector<int> suspected_uplinks(const Racks& racks, const Screen& inside,
                                   const Screen& between) {
  std::vector<int> found;
  for (std::size_t rack = 0; rack < racks.size(); ++rack) {
    std::size_t outside_slow = 0, inside_slow = 0;
    for (const int host : racks[rack]) {
      outside_slow += suspects(between, host) ? 1 : 0;
      inside_slow += suspects(inside, host) ? 1 : 0;
    }
    const std::size_t hosts = racks[rack].size();
    if (hosts > 0 && 2 * outside_slow >= hosts && 2 * inside_slow < hosts)
      found.push_back(static_cast<int>(rack));
  }
  return found;
}

UplinkSearch find_uplinks(PairMeasurer& measurer, const Racks& racks, double oversubscription,
                          std::size_t matchings, const Screen& inside, const Limits& limits,
                          Random& random) {
  UplinkSearch search;
  if (racks.size() < fewest_for_uplinks) return search;
  int hosts = 0;
  for (const std::vector<int>& rack : racks)
    for (const int host : rack) hosts = std::max(hosts, host + 1);
  InterRackRounds source(racks, oversubscription, random);
  const std::size_t rounds = matchings * static_cast<std::size_t>(std::ceil(oversubscription));
  std::vector<int> blamed;
  std::vector<Screen> confirmations;
  for (int series = 0; series < 3; ++series) {
    const Screen between =
        measure_between(measurer, source, rounds, static_cast<std::size_t>(hosts), limits);
    search.rounds += rounds;
    const std::vector<int> now = suspected_uplinks(racks, inside, between);
    if (series == 0)
      blamed = now;
    else
      confirmations.push_back(between);
    std::erase_if(blamed,
                  [&](int rack) { return !std::binary_search(now.begin(), now.end(), rack); });
    if (blamed.empty()) return search;
  }
  for (const int rack : blamed)
    search.named.push_back(
        {rack, size_of_rack(racks[static_cast<std::size_t>(rack)], confirmations)});
  return search;
}

}  // namespace ccl_tests::acceptance
