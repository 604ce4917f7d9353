#include "src/measure/scatter.hpp"

#include <cmath>
#include <vector>

#include "src/measure/statistics.hpp"

namespace ccl_tests {
namespace {

// Median of chi^2 over its degrees of freedom k (Wilson and Hilferty; within 4 % at k = 1, 2 % above).
double median_of_squares(std::size_t degrees) {
  return std::pow(1 - 2.0 / (9 * static_cast<double>(degrees)), 3);
}

}  // namespace

Scatter scatter_of(std::span<const double> times) {
  std::vector<double> logarithms;
  for (const double time : times) logarithms.push_back(std::log(time));
  const double mean = mean_of(logarithms);
  if (times.size() < 2) return {.mean = mean};
  double squares = 0;
  for (const double value : logarithms) squares += (value - mean) * (value - mean);
  const std::size_t degrees = times.size() - 1;
  return {mean, std::sqrt(squares / static_cast<double>(degrees)), degrees};
}

Scatter robust_scatter_of(std::span<const double> times) {
  std::vector<double> logarithms;
  for (const double time : times) logarithms.push_back(std::log(time));
  const std::size_t degrees = times.size() - 1;
  return {median(logarithms), deviation_from_median(logarithms), degrees};
}

std::optional<double> usual_deviation(std::span<const Scatter> rows) {
  constexpr std::size_t least = 8;
  std::vector<double> deviations;
  for (const Scatter& row : rows)
    if (row.degrees > 0)
      deviations.push_back(row.deviation / std::sqrt(median_of_squares(row.degrees)));
  if (deviations.size() < least) return std::nullopt;
  return median(std::move(deviations));
}

double half_width_of_another(const Scatter& row, std::optional<double> usual) {
  if (row.degrees == 0) return 0;
  constexpr std::size_t of_usual = 2;
  const auto n = static_cast<double>(row.degrees + 1);
  double square = row.deviation * row.deviation;
  std::size_t degrees = row.degrees;
  if (usual) {
    degrees += of_usual;
    square = (static_cast<double>(row.degrees) * square + of_usual * *usual * *usual) /
             static_cast<double>(degrees);
  }
  return student(degrees) * std::sqrt(square * (1 + 1 / n));
}

}  // namespace ccl_tests
