#include "src/measure/clock_cost.hpp"

#include <algorithm>
#include <array>

namespace ccl_tests {
namespace {

double cost(const Clock& clock) {
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

double resolution(const Clock& clock) {
  constexpr int readings = 5000;
  double least = 0;
  double last = clock.now();
  for (int k = 0; k < readings; ++k) {
    const double now = clock.now();
    if (now > last) least = least > 0 ? std::min(least, now - last) : now - last;
    last = now;
  }
  return least;
}

}  // namespace

ClockProperties clock_properties(const Clock& clock) { return {cost(clock), resolution(clock)}; }

}  // namespace ccl_tests
