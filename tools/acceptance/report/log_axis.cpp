#include "tools/acceptance/report/log_axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace ccl_tests::acceptance {

LogAxis::LogAxis(double low, double high, double begin, double end)
    : low_(low), high_(high), begin_(begin), end_(end) {
  if (!(high_ > low_ * 1.0001)) {
    low_ = low / 2;
    high_ = low * 2;
  }
}

double LogAxis::pixel(double value) const {
  return begin_ + (end_ - begin_) * std::log(value / low_) / std::log(high_ / low_);
}

std::vector<double> LogAxis::decimal_ticks() const {
  std::array<std::vector<double>, 4> mantissas = {
      std::vector<double>{1}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, {}};
  for (int tenths = 10; tenths < 100; ++tenths) mantissas.back().push_back(tenths / 10.0);
  const int first = static_cast<int>(std::floor(std::log10(low_)));
  const int last = static_cast<int>(std::ceil(std::log10(high_)));
  std::vector<double> ticks;
  for (const std::vector<double>& set : mantissas) {
    ticks.clear();
    const int step = set.size() == 1 ? std::max(1, (last - first) / 8) : 1;
    for (int exponent = first; exponent <= last; exponent += step)
      for (const double mantissa : set) {
        const double tick = mantissa * std::pow(10.0, exponent);
        if (tick >= low_ * 0.9999 && tick <= high_ * 1.0001) ticks.push_back(tick);
      }
    if (ticks.size() >= 3) break;
  }
  return ticks;
}

std::vector<double> LogAxis::binary_ticks(int most) const {
  const int first = static_cast<int>(std::ceil(std::log2(low_) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log2(high_) + 1e-9));
  const int step = std::max(1, (last - first + most) / most);
  std::vector<double> ticks;
  for (int exponent = first; exponent <= last; exponent += step)
    ticks.push_back(std::exp2(exponent));
  return ticks;
}

}  // namespace ccl_tests::acceptance
