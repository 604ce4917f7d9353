#include "src/measure/effects.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "src/measure/statistics.hpp"

namespace ccl_tests {
namespace {

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
  return robust_deviation(residuals) * std::sqrt(n / (n - p));
}

// Returns the factor that makes 1.4826 MAD of n normal values unbiased (Croux and Rousseeuw, COMPSTAT 1992).
double small_sample_factor(std::size_t n) {
  constexpr double known[] = {1.206, 1.200, 1.140, 1.129, 1.107};  // of 5 to 9 values
  if (n < 5) return known[0];
  if (n <= 9) return known[n - 5];
  return static_cast<double>(n) / (static_cast<double>(n) - 0.8);
}

}  // namespace

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

double spread_of(std::span<const double> effects, bool fast_half) {
  std::vector<double> some;
  std::size_t number = 0;
  for (const double effect : effects) {
    if (!std::isfinite(effect)) continue;
    ++number;
    if (!fast_half || effect <= 0) some.push_back(effect);
  }
  return small_sample_factor(number) * robust_deviation(std::move(some));
}

}  // namespace ccl_tests
