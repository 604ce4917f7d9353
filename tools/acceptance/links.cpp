#include "tools/acceptance/links.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "src/measure/statistics.hpp"

namespace ccl_tests::acceptance {
namespace {

// The residuals of a pair, first those from the lower to the higher number.
struct Residuals {
  std::vector<double> up, down;
};

// The residual of one direction, and its standard deviation.
struct Direction {
  double residual = 0, deviation = 0;
};

Direction direction(std::vector<double> residuals, double sigma) {
  const auto n = static_cast<double>(residuals.size());
  // The median's variance is up to pi / 2 of the mean's, which it equals of one or two values.
  const double loss = residuals.size() > 2 ? 1.2533 : 1;
  return {median(std::move(residuals)), loss * sigma / std::sqrt(n)};
}

bool contains(const std::vector<int>& hosts, int host) {
  return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
}

// Returns what was seen of other pairs than the links', but of those, too, if a host would lose half of its observations.
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
  std::copy_if(seen.begin(), seen.end(), std::back_inserter(rest), [&](const Observation& one) {
    return !left_out.contains(std::minmax(one.from, one.to));
  });
  return rest;
}

}  // namespace

std::vector<LinkCandidate> link_candidates(std::span<const Observation> seen, const Effects& fit,
                                           const std::vector<int>& without, const Limits& limits) {
  std::map<std::pair<int, int>, Residuals> pairs;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const auto [low, high] = std::minmax(seen[i].from, seen[i].to);
    if (contains(without, low) || contains(without, high)) continue;
    Residuals& pair = pairs[{low, high}];
    (seen[i].from == low ? pair.up : pair.down).push_back(fit.residuals[i]);
  }
  const double sigma = std::max(fit.sigma, limits.floor);
  std::vector<LinkCandidate> found;
  for (const auto& [hosts, residuals] : pairs) {
    if (residuals.up.empty() || residuals.down.empty()) continue;
    const Direction up = direction(residuals.up, sigma), down = direction(residuals.down, sigma);
    const double both = (up.residual + down.residual) / 2;
    const double deviation = std::hypot(up.deviation, down.deviation) / 2;
    const bool up_slow = up.residual > std::max(4 * up.deviation, 1.5 * limits.smallest);
    const bool down_slow = down.residual > std::max(4 * down.deviation, 1.5 * limits.smallest);
    const auto [low, high] = hosts;
    if (both > std::max(2.8 * deviation, limits.smallest) && up.residual > up.deviation &&
        down.residual > down.deviation)
      found.push_back({{low, high}, false, both});
    else if (up_slow)
      found.push_back({{low, high}, true, up.residual});
    else if (down_slow)
      found.push_back({{high, low}, true, down.residual});
  }
  std::stable_sort(found.begin(), found.end(), [](const LinkCandidate& a, const LinkCandidate& b) {
    return std::pair(!a.one_way, a.residual) > std::pair(!b.one_way, b.residual);
  });
  const auto hosts = static_cast<std::size_t>(
      std::count_if(fit.sent.begin(), fit.sent.end(), [](std::size_t sent) { return sent > 0; }));
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

}  // namespace ccl_tests::acceptance
