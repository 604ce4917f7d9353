#include "src/measure/stopping.hpp"

#include <algorithm>
#include <cmath>

namespace ccl_tests {

std::size_t untimed_calls(double call_s, std::size_t least, double least_s, double most_s) {
  if (call_s <= 0) return 0;
  const auto calls_in = [&](double seconds) {
    constexpr double rounding = 1e-9;
    return static_cast<std::size_t>(std::ceil(std::min(seconds / call_s, 1e6) - rounding));
  };
  return std::min(std::max(least, calls_in(least_s)), calls_in(most_s));
}

std::size_t capped_iterations(std::size_t wanted, double iteration_s, double limit_s) {
  if (limit_s <= 0 || iteration_s <= 0 || wanted <= 1) return wanted;
  const double fitting = limit_s / iteration_s;
  return fitting >= static_cast<double>(wanted)
             ? wanted
             : std::max<std::size_t>(1, static_cast<std::size_t>(fitting));
}

double longest_last(std::span<const Samples> ranks) {
  double longest = 0;
  for (const Samples& samples : ranks) {
    if (!samples.empty()) longest = std::max(longest, samples.back().seconds());
  }
  return longest;
}

}  // namespace ccl_tests
