// A logarithmic axis of a picture.
#pragma once

#include <vector>

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

}  // namespace ccl_tests::acceptance
