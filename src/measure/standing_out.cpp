#include "src/measure/standing_out.hpp"

#include <algorithm>
#include <cmath>

namespace ccl_tests {

double binomial_tail(std::uint64_t trials, std::uint64_t hits, double chance) {
  if (hits == 0 || chance >= 1) return 1;
  if (hits > trials || chance <= 0) return 0;
  const auto n = static_cast<double>(trials);
  double tail = 0;
  for (std::uint64_t k = hits; k <= trials; ++k) {
    const auto x = static_cast<double>(k);
    const double log_ways = std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1);
    const double term = std::exp(log_ways + x * std::log(chance) + (n - x) * std::log1p(-chance));
    tail += term;
    if (x > n * chance && term < tail * 1e-12) break;  // the rest is smaller still
  }
  return std::min(tail, 1.0);
}

bool stands_out(std::uint64_t trials, std::uint64_t hits, double chance) {
  constexpr double most_by_chance = 0.001;
  constexpr double of_few = 0.3;  // a third, not as exactly as a division gives it
  if (trials == 0 || chance > of_few) return false;
  const double share = static_cast<double>(hits) / static_cast<double>(trials);
  return share > std::max(0.5, 3 * chance) && binomial_tail(trials, hits, chance) < most_by_chance;
}

}  // namespace ccl_tests
