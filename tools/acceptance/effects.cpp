#include "tools/acceptance/effects.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/measure/statistics.hpp"

namespace ccl_tests::acceptance {
namespace {

bool measured(double seconds) { return std::isfinite(seconds) && seconds > 0; }

// The observations of each group, sender or receiver, by index.
using Members = std::vector<std::vector<std::size_t>>;

template <class Key>
Members members(std::span<const Observation> seen, std::size_t keys, Key&& key) {
  Members lists(keys);
  for (std::size_t i = 0; i < seen.size(); ++i) lists[key(seen[i])].push_back(i);
  return lists;
}

// Returns the median, moved by two steps of Huber's weights if `sigma` is above 0.
double location(const std::vector<double>& values, double sigma) {
  double centre = median(values);
  const double cut = 1.345 * sigma;  // 95 % efficient for normal values
  if (cut <= 0) return centre;
  for (int step = 0; step < 2; ++step) {
    double sum = 0, weights = 0;
    for (const double value : values) {
      const double distance = std::abs(value - centre);
      const double weight = distance <= cut ? 1 : cut / distance;
      sum += weight * value;
      weights += weight;
    }
    centre = sum / weights;
  }
  return centre;
}

// Moves the location of each list's residuals into the list's effect.
void absorb(const Members& lists, double sigma, std::vector<double>& effects,
            std::vector<double>& residuals) {
  std::vector<double> values;
  for (std::size_t key = 0; key < lists.size(); ++key) {
    if (lists[key].empty()) continue;
    values.clear();
    for (const std::size_t i : lists[key]) values.push_back(residuals[i]);
    const double shift = location(values, sigma);
    effects[key] += shift;
    for (const std::size_t i : lists[key]) residuals[i] -= shift;
  }
}

// Makes the median of the effects 0; the groups' effects take the rest.
void centre(const Members& lists, std::vector<double>& effects, std::vector<double>& groups) {
  std::vector<double> present;
  for (std::size_t key = 0; key < lists.size(); ++key)
    if (!lists[key].empty()) present.push_back(effects[key]);
  const double middle = median(present);
  for (std::size_t key = 0; key < lists.size(); ++key)
    if (!lists[key].empty()) effects[key] -= middle;
  for (double& group : groups) group += middle;
}

std::size_t filled(const Members& lists) {
  return static_cast<std::size_t>(
      std::count_if(lists.begin(), lists.end(), [](const auto& list) { return !list.empty(); }));
}

double robust_sigma(const std::vector<double>& residuals, std::size_t parameters) {
  const auto n = static_cast<double>(residuals.size());
  const auto p = static_cast<double>(parameters);
  if (n <= p) return std::numeric_limits<double>::infinity();
  std::vector<double> sizes;
  for (const double residual : residuals) sizes.push_back(std::abs(residual));
  return 1.4826 * median(std::move(sizes)) * std::sqrt(n / (n - p));
}

}  // namespace

std::optional<double> value_of(const Transfer& transfer, Statistic statistic) {
  if (statistic == Statistic::time)
    return measured(transfer.seconds) ? std::optional(std::log(transfer.seconds)) : std::nullopt;
  if (!measured(transfer.p50) || !measured(transfer.p95)) return std::nullopt;
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

Effects fit_effects(std::span<const Observation> seen, std::size_t hosts) {
  Effects fit;
  fit.sending.resize(hosts);
  fit.receiving.resize(hosts);
  fit.sent.resize(hosts);
  fit.received.resize(hosts);
  fit.sigma = std::numeric_limits<double>::infinity();
  if (seen.empty()) return fit;
  std::size_t groups = 0;
  for (const Observation& one : seen) groups = std::max(groups, one.group + 1);
  const Members by_group = members(seen, groups, [](const Observation& o) { return o.group; });
  const Members by_from =
      members(seen, hosts, [](const Observation& o) { return static_cast<std::size_t>(o.from); });
  const Members by_to =
      members(seen, hosts, [](const Observation& o) { return static_cast<std::size_t>(o.to); });
  for (const Observation& one : seen) fit.residuals.push_back(one.value);
  std::vector<double> group_effects(groups);
  const std::size_t parameters = filled(by_group) + filled(by_from) + filled(by_to) - 2;
  double cut = 0;  // the first sweep takes medians
  for (int sweep = 0; sweep < 3; ++sweep) {
    absorb(by_group, 0, group_effects, fit.residuals);
    absorb(by_from, cut, fit.sending, fit.residuals);
    absorb(by_to, cut, fit.receiving, fit.residuals);
    centre(by_from, fit.sending, group_effects);
    centre(by_to, fit.receiving, group_effects);
    fit.sigma = robust_sigma(fit.residuals, parameters);
    cut = std::isfinite(fit.sigma) ? fit.sigma : 0;
  }
  for (std::size_t host = 0; host < hosts; ++host) {
    fit.sent[host] = by_from[host].size();
    fit.received[host] = by_to[host].size();
  }
  return fit;
}

}  // namespace ccl_tests::acceptance
