#include "src/measure/quantile.hpp"

#include <cmath>

namespace ccl_tests {

double normal_quantile_above(double tail) {
  double low = -40, high = 40;
  for (int step = 0; step < 100; ++step) {
    const double middle = (low + high) / 2;
    (std::erfc(middle / std::sqrt(2.0)) / 2 > tail ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace ccl_tests
