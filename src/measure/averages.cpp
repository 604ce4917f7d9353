#include "src/measure/averages.hpp"

#include <algorithm>
#include <numeric>

namespace ccl_tests {

double average(Average how, std::span<const double> values) {
  switch (how) {
    case Average::rank0: return values.front();
    case Average::mean:
      return std::accumulate(values.begin(), values.end(), 0.0) /
             static_cast<double>(values.size());
    case Average::min: return *std::min_element(values.begin(), values.end());
    case Average::max: return *std::max_element(values.begin(), values.end());
  }
  return 0;
}

}  // namespace ccl_tests
