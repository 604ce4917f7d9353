#include "src/measure/clock_cost.hpp"

#include <algorithm>
#include <array>

namespace ccl_tests {

double clock_cost(const Clock& clock) {
  constexpr int readings = 50;
  std::array<double, 101> costs{};
  for (double& cost : costs) {
    const double start = clock.now();
    for (int k = 1; k < readings; ++k) clock.now();
    cost = (clock.now() - start) / readings;
  }
  std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
  return costs[costs.size() / 2];
}

}  // namespace ccl_tests
