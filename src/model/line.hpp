// A straight line through the times of calls of several sizes. Pure.
#pragma once

#include <cstddef>
#include <span>

namespace ccl_tests {

// The time of a call of `bytes`. sigma: its uncertainty over the time, above 0.
struct SizeTime {
  std::size_t bytes = 0;
  double seconds = 0;
  double sigma = 0.01;
};

// t = alpha + beta * bytes: seconds, and seconds per byte.
struct Line {
  double alpha = 0;
  double beta = 0;
  double at(std::size_t bytes) const { return alpha + beta * static_cast<double>(bytes); }
};

// Returns the line through the points whose relative errors are smallest: iteratively reweighted least
// squares of ((alpha + beta * bytes) / seconds - 1) / sigma with Huber's weights (k = 1.345), 8
// rounds. Neither alpha nor beta is below 0. beta is 0 if all sizes are equal. Every time is above 0.
Line robust_line(std::span<const SizeTime> points);

// Returns Huber's loss of the line, summed over the points: the square of an error up to 1.345 sigma,
// and linear beyond.
double loss(const Line& line, std::span<const SizeTime> points);

}  // namespace ccl_tests
