#include "src/measure/repeatability.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "src/measure/statistics.hpp"

namespace ccl_tests {

double Repeatability::half_width() const {
  constexpr double normal_95 = 1.959964;   // half of the central 95 % of a normal distribution
  constexpr double normal_50 = 0.6744898;  // of its central half: the median of absolute values
  return normal_95 * difference / normal_50 / std::numbers::sqrt2;
}

Repeating repeating(const Repeatability& found, double precision) {
  constexpr double most_if_well = 2.5;
  return found.half_width() <= most_if_well * precision ? Repeating::well : Repeating::badly;
}

std::optional<Repeatability> repeatability(std::span<const TimedTwice> pairs) {
  std::vector<double> differences, apart;
  for (const TimedTwice& pair : pairs) {
    if (pair.first <= 0 || pair.again <= 0) continue;
    differences.push_back(std::abs(std::log(pair.again / pair.first)));
    apart.push_back(pair.apart);
  }
  if (differences.empty()) return std::nullopt;
  const double largest = *std::max_element(differences.begin(), differences.end());
  const std::uint64_t times = differences.size();
  return Repeatability{times, median(std::move(differences)), largest, median(std::move(apart))};
}

}  // namespace ccl_tests
