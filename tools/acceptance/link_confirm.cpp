#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "src/measure/quantile.hpp"
#include "src/measure/statistics.hpp"
#include "tools/acceptance/links.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t controls_wanted = 4;  // hosts a round whose times are the baseline

// A candidate and the values of its repeats.
struct Case {
  LinkCandidate candidate;
  std::vector<double> values;
};

std::pair<int, int> ordered(HostPair pair) { return std::minmax(pair.a, pair.b); }

// Returns indices of cases whose pairs share no host and leave enough hosts as controls. Takes
// those out of `waiting`.
std::vector<std::size_t> take_disjoint(std::vector<std::size_t>& waiting,
                                       const std::vector<Case>& cases, std::size_t hosts) {
  std::vector<std::size_t> taken, left;
  std::set<int> busy;
  for (const std::size_t i : waiting) {
    const auto [a, b] = cases[i].candidate.hosts;
    const bool fits = taken.empty() || busy.size() + 2 + controls_wanted <= hosts;
    if (fits && !busy.contains(a) && !busy.contains(b)) {
      taken.push_back(i);
      busy.insert({a, b});
    } else {
      left.push_back(i);
    }
  }
  waiting = std::move(left);
  return taken;
}

// A round of the cases `taken`, whose pairs come first, and pairs of the other hosts that are no
// candidates.
Round round_of(const std::vector<std::size_t>& taken, const std::vector<Case>& cases,
               const std::set<std::pair<int, int>>& suspected, std::vector<int> good,
               Random& random) {
  Round round;
  std::set<int> busy;
  for (const std::size_t i : taken) {
    round.push_back(cases[i].candidate.hosts);
    busy.insert({round.back().a, round.back().b});
  }
  std::erase_if(good, [&](int host) { return busy.contains(host); });
  shuffle(good, random);
  while (good.size() > 1) {
    const int host = good.back();
    good.pop_back();
    const auto partner = std::find_if(good.begin(), good.end(), [&](int other) {
      return !suspected.contains(ordered({host, other}));
    });
    if (partner == good.end()) continue;
    round.push_back({host, *partner});
    good.erase(partner);
  }
  return round;
}

// A value without the effects of its two hosts.
std::optional<double> corrected(const Transfer& transfer, int from, int to, const Effects& fit) {
  const auto value = value_of(transfer, Statistic::time);
  if (!value) return std::nullopt;
  return *value - fit.sending[static_cast<std::size_t>(from)] -
         fit.receiving[static_cast<std::size_t>(to)];
}

void add_values(const std::vector<PairTimes>& times, const std::vector<std::size_t>& taken,
                std::vector<Case>& cases, const Effects& fit) {
  std::vector<double> controls;
  const auto is_of = [](const PairTimes& pair, const Case& one) {
    return ordered(pair.hosts) == ordered(one.candidate.hosts);
  };
  for (const PairTimes& pair : times) {
    const auto [a, b] = pair.hosts;
    if (std::any_of(taken.begin(), taken.end(),
                    [&](std::size_t i) { return is_of(pair, cases[i]); }))
      continue;
    if (const auto there = corrected(pair.forward, a, b, fit)) controls.push_back(*there);
    if (const auto back = corrected(pair.backward, b, a, fit)) controls.push_back(*back);
  }
  if (controls.empty()) return;
  const double baseline = median(std::move(controls));
  for (const PairTimes& pair : times) {
    for (const std::size_t i : taken) {
      if (!is_of(pair, cases[i])) continue;
      const auto [a, b] = pair.hosts;
      const auto there = corrected(pair.forward, a, b, fit);
      const auto back = corrected(pair.backward, b, a, fit);
      const LinkCandidate& link = cases[i].candidate;
      const bool along = a == link.hosts.a;
      if (link.one_way && (along ? there : back))
        cases[i].values.push_back((along ? *there : *back) - baseline);
      if (!link.one_way && there && back)
        cases[i].values.push_back((*there + *back) / 2 - baseline);
    }
  }
}

struct Fresh {
  double effect = 0, error = std::numeric_limits<double>::infinity();
};
Fresh fresh(const Case& one, double sigma) {
  if (one.values.empty()) return {};
  const auto n = static_cast<double>(one.values.size());
  const double directions = one.candidate.one_way ? 1 : 2;
  return {median(one.values), 1.2533 * sigma / std::sqrt(n * directions)};
}

}  // namespace

LinkSearch confirm_links(PairMeasurer& measurer, const std::vector<LinkCandidate>& candidates,
                         const std::vector<int>& good, const Effects& fit, const Limits& limits,
                         Random& random) {
  LinkSearch search;
  const double sigma = std::max(fit.sigma, limits.floor);
  const double last =
      normal_quantile_above(1e-3 / std::max<double>(1, static_cast<double>(candidates.size())));
  std::set<std::pair<int, int>> suspected;
  for (const LinkCandidate& one : candidates) suspected.insert(ordered(one.hosts));
  std::vector<LinkCandidate> left = candidates;
  for (const std::size_t repeats : {std::size_t{4}, std::size_t{8}}) {
    std::vector<Case> cases;
    for (const LinkCandidate& one : left) cases.push_back({one, {}});
    for (std::size_t repeat = 0; repeat < 2 * repeats; ++repeat) {
      std::vector<std::size_t> waiting;
      for (std::size_t i = 0; i < cases.size(); ++i)
        if (repeat < repeats || cases[i].candidate.one_way) waiting.push_back(i);
      while (!waiting.empty()) {
        const std::vector<std::size_t> taken = take_disjoint(waiting, cases, good.size());
        add_values(measurer.measure(round_of(taken, cases, suspected, good, random)), taken, cases,
                   fit);
        ++search.rounds;
      }
    }
    left.clear();
    for (const Case& one : cases) {
      const Fresh found = fresh(one, sigma);
      const bool large = found.effect >= limits.smallest;
      search.open += one.values.empty() ? 1 : 0;
      if (repeats == 4 && large && found.effect > 2 * found.error) left.push_back(one.candidate);
      if (repeats != 8) continue;
      if (large && found.effect > last * found.error)
        search.named.push_back(
            {one.candidate.hosts, one.candidate.one_way, size_of(found.effect, found.error)});
      else if (found.effect + 1.96 * found.error >= 1.5 * limits.smallest && large)
        ++search.open;
    }
  }
  return search;
}

}  // namespace ccl_tests::acceptance
