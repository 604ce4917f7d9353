// Times as machines make them, from a seed: for tests of statistics.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace ccl_tests::test {

// Log-normal times around a median. The same seed gives the same times.
class Noise {
 public:
  struct Shape {
    double median = 1;
    double spread = 0.05;      // standard deviation of the logarithm
    double correlation = 0;    // of neighbours, AR(1)
    double outlier_share = 0;  // calls that take several times as long
    double drift = 0;          // relative change from the first to the last of 1000
    double second_speed = 0;   // every other run of 50 takes so much longer; 0: one speed
  };
  Noise(const Shape& shape, std::uint64_t seed) : shape_(shape), state_(seed * 2 + 1) {}

  double next() {
    const double fresh = normal() * std::sqrt(1 - shape_.correlation * shape_.correlation);
    last_ = taken_ == 0 ? normal() : shape_.correlation * last_ + fresh;
    double value = shape_.median * std::exp(shape_.spread * last_);
    if (uniform() < shape_.outlier_share) value *= 2 - 3 * std::log(uniform());
    value *= 1 + shape_.drift * static_cast<double>(taken_) / 1000;
    if (shape_.second_speed > 0 && taken_ / 50 % 2 == 1) value *= 1 + shape_.second_speed;
    ++taken_;
    return value;
  }
  std::vector<double> take(std::size_t n) {
    std::vector<double> values(n);
    for (double& value : values) value = next();
    return values;
  }

 private:
  // SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): above 0, at most 1.
  double uniform() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (static_cast<double>((z ^ (z >> 31)) >> 11) + 1) * 0x1p-53;
  }
  // Box and Muller's.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * 3.14159265358979323846 * uniform());
  }

  Shape shape_;
  std::uint64_t state_;
  double last_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace ccl_tests::test
