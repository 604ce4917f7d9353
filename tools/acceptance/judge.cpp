#include "tools/acceptance/judge.hpp"

#include <algorithm>
#include <cmath>

#include "src/measure/statistics.hpp"

namespace ccl_tests::acceptance {
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

}  // namespace ccl_tests::acceptance
