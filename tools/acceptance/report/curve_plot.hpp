// Curves over logarithmic axes, as SVG.
#pragma once

#include <string>
#include <vector>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

class LogAxis {
 public:
  // From the values low to high, both above 0, to the pixels begin to end. A single value gets room
  // of a factor of 2 on both sides.
  LogAxis(double low, double high, double begin, double end);

  double low() const { return low_; }
  double high() const { return high_; }
  double pixel(double value) const;

  // Values that people count in, at least three of them if the axis is not very short: powers of 10,
  // with 2 and 5 between them, or with ever finer steps between them.
  std::vector<double> decimal_ticks() const;
  // Powers of 2, at most `most` of them, equally far apart.
  std::vector<double> binary_ticks(int most) const;

 private:
  double low_, high_, begin_, end_;
};

// Returns the sizes, as words, whose bandwidth is below its limit: "64 MiB: 231 of 360 GB/s".
std::vector<std::string> below_limit(const Curve& curve);

// Returns figures of HTML with inline SVG: curves of the same stage, program and type together,
// those with a point below its limit first. Needs the colours of html_style.
std::string curve_figures(const std::vector<Curve>& curves);

}  // namespace ccl_tests::acceptance
