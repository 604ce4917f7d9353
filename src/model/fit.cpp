#include "src/model/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <utility>

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

// Returns the line through the points whose relative errors are smallest: iteratively reweighted least
// squares of ((alpha + beta * bytes) / seconds - 1) / sigma with Huber's weights (k = 1.345), 8
// rounds. Neither alpha nor beta is below 0. beta is 0 if all sizes are equal. Every time is above 0.
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

// Returns Huber's loss of the line, summed over the points: the square of an error up to 1.345 sigma,
// and linear beyond.
double loss(const Line& line, std::span<const SizeTime> points) {
  double sum = 0;
  for (const SizeTime& point : points) {
    const double off = std::abs(error(line, point));
    sum += off <= huber ? off * off : huber * (2 * off - huber);
  }
  return sum;
}

constexpr std::size_t least_sizes = 4;
constexpr std::size_t least_in_segment = 3;
constexpr std::size_t most_segments = 4;
constexpr std::size_t most_sizes = 96;
constexpr std::size_t sizes_per_stand_out = 8;
constexpr double stands_out_from = 1.25;  // times its line; such a time is no error of the fit
constexpr double penalty = 2.5;           // of a parameter, in units of ln(sizes)
constexpr int refits = 200;

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

using Points = std::span<const SizeTime>;
using Range = std::pair<std::size_t, std::size_t>;  // of points, [first, end)

// One point for each size, ascending.
std::vector<SizeTime> one_of_each_size(std::vector<SizeTime> points) {
  std::erase_if(points, [](const SizeTime& p) {
    return !(p.bytes > 0 && p.seconds > 0 && p.sigma > 0 && std::isfinite(p.seconds));
  });
  std::sort(points.begin(), points.end(), [](const SizeTime& a, const SizeTime& b) {
    return std::pair(a.bytes, a.seconds) < std::pair(b.bytes, b.seconds);
  });
  std::vector<SizeTime> kept;
  for (std::size_t first = 0; first < points.size();) {
    std::size_t end = first;
    while (end < points.size() && points[end].bytes == points[first].bytes) ++end;
    kept.push_back(points[first + (end - first) / 2]);
    first = end;
  }
  return kept;
}

std::vector<SizeTime> thinned(const std::vector<SizeTime>& points) {
  if (points.size() <= most_sizes) return points;
  std::vector<SizeTime> kept;
  for (std::size_t k = 0; k < most_sizes; ++k)
    kept.push_back(points[k * (points.size() - 1) / (most_sizes - 1)]);
  return kept;
}

// Returns the best way to cut the points into segments, by dynamic programming.
std::vector<Range> segments_of(Points points) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  struct Cut {
    double loss = infinity;
    std::size_t first = 0;  // of the last segment
  };
  const std::size_t n = points.size();
  std::vector<std::vector<Cut>> best(most_segments + 1,
                                     std::vector<Cut>(n + 1));  // [segments][end]
  best[0][0].loss = 0;
  for (std::size_t first = 0; first < n; ++first) {
    for (std::size_t end = first + least_in_segment; end <= n; ++end) {
      const Points part = points.subspan(first, end - first);
      const double alone = loss(robust_line(part), part);
      for (std::size_t k = 1; k <= most_segments; ++k) {
        const double sum = best[k - 1][first].loss + alone;
        if (sum < best[k][end].loss) best[k][end] = {sum, first};
      }
    }
  }
  double least = infinity;
  std::size_t segments = 1;
  for (std::size_t k = 1; k <= most_segments; ++k) {
    const double parameters = 3 * static_cast<double>(k) - 1;
    const double cost =
        best[k].back().loss + penalty * parameters * std::log(static_cast<double>(n));
    if (cost >= least) continue;
    least = cost;
    segments = k;
  }
  std::vector<Range> ranges;
  for (std::size_t end = n, k = segments; k > 0; --k) {
    ranges.emplace_back(best[k][end].first, end);
    end = best[k][end].first;
  }
  std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

// Returns the scatter of the points around the lines of their segments, in sigma: from the median of the
// errors, which is 0.6745 of a normal distribution's deviation, corrected for the fitted parameters.
double scatter(Points points, const std::vector<Range>& ranges) {
  std::vector<double> errors;
  for (const auto& [first, end] : ranges) {
    const Points part = points.subspan(first, end - first);
    const Line line = robust_line(part);
    for (const SizeTime& p : part) errors.push_back(std::abs(error(line, p)));
  }
  const auto n = static_cast<double>(points.size());
  const double parameters = std::min(n - 1, 2 * static_cast<double>(ranges.size()));
  return median(errors) / 0.6745 * std::sqrt(n / (n - parameters));
}

// Returns the segments. Widens every sigma by the same factor until it covers the scatter: too narrow
// ones would be read as one segment more.
std::vector<Range> widened_segments(std::vector<SizeTime>& points) {
  constexpr int most_rounds = 4;
  std::vector<Range> ranges = segments_of(points);
  for (int round = 0; round < most_rounds; ++round) {
    const double factor = scatter(points, ranges);
    if (factor <= 1.05) break;
    for (SizeTime& point : points) point.sigma *= factor;
    ranges = segments_of(points);
  }
  return ranges;
}

Interval interval_of(double value, std::vector<double>& drawn) {
  std::sort(drawn.begin(), drawn.end());
  const std::size_t tail = drawn.size() / 40;  // 2.5 %
  return {value, std::min(value, drawn[tail]), std::max(value, drawn[drawn.size() - 1 - tail])};
}

Segment segment_through(Points points, std::mt19937_64& random) {
  const Line line = robust_line(points);
  std::vector<double> alphas;
  std::vector<double> betas;
  std::vector<SizeTime> drawn(points.begin(), points.end());
  std::normal_distribution<double> normal;
  for (int k = 0; k < refits; ++k) {
    for (std::size_t i = 0; i < points.size(); ++i)
      drawn[i].seconds = points[i].seconds * std::max(0.1, 1 + points[i].sigma * normal(random));
    const Line again = robust_line(drawn);
    alphas.push_back(again.alpha);
    betas.push_back(again.beta);
  }
  return {points.front().bytes, points.back().bytes, interval_of(line.alpha, alphas),
          interval_of(line.beta, betas)};
}

}  // namespace

std::size_t Fit::segment_of(std::size_t bytes) const {
  std::size_t index = 0;
  while (index + 1 < segments.size() && bytes > segments[index].last_bytes) ++index;
  return index;
}

FitResult fit_times(std::vector<SizeTime> given) {
  const std::vector<SizeTime> all = one_of_each_size(std::move(given));
  if (all.size() < least_sizes)
    return {{}, fmt::format("a fit needs {} sizes and has {}", least_sizes, all.size())};
  std::vector<SizeTime> points = thinned(all);
  std::mt19937_64 random(1);
  Fit fit;
  for (const auto& [first, end] : widened_segments(points))
    fit.segments.push_back(segment_through(Points(points).subspan(first, end - first), random));
  std::size_t worst_bytes = 0;
  for (const SizeTime& point : all) {
    Segment& segment = fit.segments[fit.segment_of(point.bytes)];
    const double ratio = point.seconds / segment.line().at(point.bytes);
    if (ratio >= stands_out_from) {
      fit.above.push_back({point.bytes, ratio});
      continue;
    }
    const double error = std::abs(ratio - 1);
    segment.largest_error = std::max(segment.largest_error, error);
    if (error <= fit.largest_error) continue;
    fit.largest_error = error;
    worst_bytes = point.bytes;
  }
  if (fit.largest_error > most_error)
    return {{},
            fmt::format("no line describes them: {} B is {:.0f} % off", worst_bytes,
                        100 * fit.largest_error)};
  const std::size_t most_above = (all.size() + sizes_per_stand_out - 1) / sizes_per_stand_out;
  if (fit.above.size() > most_above || all.size() - fit.above.size() < least_sizes)
    return {{},
            fmt::format("no line describes them: {} of {} sizes are far above", fit.above.size(),
                        all.size())};
  return {fit};
}

}  // namespace ccl_tests
