#include "src/measure/standing_out.hpp"

#include <algorithm>

#include "src/measure/statistics.hpp"

namespace ccl_tests {

bool stands_out(std::uint64_t trials, std::uint64_t hits, double chance) {
  constexpr double most_by_chance = 0.001;
  constexpr double of_few = 0.3;  // a third, not as exactly as a division gives it
  if (trials == 0 || chance > of_few) return false;
  const double share = static_cast<double>(hits) / static_cast<double>(trials);
  return share > std::max(0.5, 3 * chance) && binomial_tail(trials, hits, chance) < most_by_chance;
}

}  // namespace ccl_tests
