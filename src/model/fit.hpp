// The time of a call as a function of its size: alpha + bytes / bandwidth, in segments of sizes. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

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

// A value with its 95 % interval.
struct Interval {
  double value = 0, low = 0, high = 0;
};

// Sizes that one line describes.
struct Segment {
  std::size_t first_bytes = 0, last_bytes = 0;
  Interval alpha;            // seconds
  Interval beta;             // seconds per byte; 0: the time does not depend on the size
  double largest_error = 0;  // of |time / line - 1|, without the points that stand out

  Line line() const { return {alpha.value, beta.value}; }
  // Returns the size that is sent at half of the bandwidth; nullopt if the time does not grow.
  std::optional<double> half_bandwidth_bytes() const {
    if (beta.value <= 0) return std::nullopt;
    return alpha.value / beta.value;
  }
};

// A time that is far above the line of its neighbours.
struct StandOut {
  std::size_t bytes = 0;
  double ratio = 1;  // time / line
};

struct Fit {
  std::vector<Segment> segments;  // in ascending order
  std::vector<StandOut> above;
  double largest_error = 0;  // of all segments

  // Returns the index of the segment that describes this size.
  std::size_t segment_of(std::size_t bytes) const;
  double at(std::size_t bytes) const { return segments[segment_of(bytes)].line().at(bytes); }
};

// Either a fit, or why there is none, in words.
struct FitResult {
  std::optional<Fit> fit;
  std::string refusal = {};
};

// A fit whose largest error is above is refused.
inline constexpr double most_error = 0.15;

// Returns the fit with the number of segments K <= 4, of at least 3 sizes each, for which the loss
// plus 2.5 (3 K - 1) ln(sizes) is least. Points of one size are replaced by the one in the middle.
// Points without bytes or seconds are left out; of more than 96 sizes 96 are taken. Refuses fewer than
// 4 sizes, a time that is more than 15 % off without standing out (1.25 times its line or more), and
// more than one time in 8 that stands out. If the times scatter around the lines by more than their
// sigma, every sigma is widened by the same factor. The intervals of alpha and beta come from 200
// fits of times that are drawn from normal distributions with these sigma; the draws are the same in
// every call.
FitResult fit_times(std::vector<SizeTime> points);

}  // namespace ccl_tests
