#include "src/model/line.hpp"

#include <algorithm>
#include <cmath>

namespace ccl_tests {
namespace {

constexpr double huber = 1.345;  // errors up to so many sigma count as squares
constexpr int rounds = 8;

double error(const Line& line, const SizeTime& point) {
  return (line.at(point.bytes) / point.seconds - 1) / point.sigma;
}

// Sums of the normal equations. Sizes are over the largest one, so that the sums are alike.
struct Sums {
  double uu = 0, uv = 0, vv = 0, u = 0, v = 0;

  void add(const SizeTime& point, double scale, double weight) {
    const double target = 1 / point.sigma;
    const double alpha = target / point.seconds;
    const double beta = alpha * static_cast<double>(point.bytes) / scale;
    uu += weight * alpha * alpha;
    uv += weight * alpha * beta;
    vv += weight * beta * beta;
    u += weight * alpha * target;
    v += weight * beta * target;
  }

  Line line(double scale) const {
    const double determinant = uu * vv - uv * uv;
    const bool one_size = determinant <= 1e-12 * uu * vv;
    Line line;
    if (!one_size)
      line = {(u * vv - v * uv) / determinant, (v * uu - u * uv) / determinant / scale};
    if (one_size || line.beta < 0) return {u / uu, 0};
    if (line.alpha < 0) return {0, v / vv / scale};
    return line;
  }
};

}  // namespace

Line robust_line(std::span<const SizeTime> points) {
  double scale = 1;
  for (const SizeTime& point : points) scale = std::max(scale, static_cast<double>(point.bytes));
  Line line;
  for (int round = 0; round <= rounds; ++round) {
    Sums sums;
    for (const SizeTime& point : points) {
      const double off = round == 0 ? 0 : std::abs(error(line, point));
      sums.add(point, scale, off > huber ? huber / off : 1);
    }
    line = sums.line(scale);
  }
  return line;
}

double loss(const Line& line, std::span<const SizeTime> points) {
  double sum = 0;
  for (const SizeTime& point : points) {
    const double off = std::abs(error(line, point));
    sum += off <= huber ? off * off : huber * (2 * off - huber);
  }
  return sum;
}

}  // namespace ccl_tests
