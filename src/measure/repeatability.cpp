#include "src/measure/repeatability.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <vector>

#include "src/measure/statistics.hpp"

namespace ccl_tests {
namespace {

// Median of chi^2 over its degrees of freedom k (Wilson and Hilferty; within 4 % at k = 1, 2 % above).
double median_of_squares(std::size_t degrees) {
  return std::pow(1 - 2.0 / (9 * static_cast<double>(degrees)), 3);
}

std::vector<double> logarithms_of(std::span<const double> times) {
  std::vector<double> logarithms;
  for (const double time : times) logarithms.push_back(std::log(time));
  return logarithms;
}

}  // namespace

Scatter scatter_of(std::span<const double> times) {
  const std::vector<double> logarithms = logarithms_of(times);
  if (times.size() < 2) return {.mean = mean_of(logarithms)};
  const std::size_t degrees = times.size() - 1;
  return {mean_of(logarithms),
          std::sqrt(squared_deviations(logarithms) / static_cast<double>(degrees)), degrees};
}

Scatter robust_scatter_of(std::span<const double> times) {
  const std::vector<double> logarithms = logarithms_of(times);
  return {median(logarithms), deviation_from_median(logarithms), times.size() - 1};
}

std::optional<double> usual_deviation(std::vector<Scatter> rows, double mean) {
  constexpr std::size_t least = 8, nearest = 12;
  std::erase_if(rows, [](const Scatter& row) { return row.degrees == 0; });
  if (rows.size() < least) return std::nullopt;
  std::stable_sort(rows.begin(), rows.end(), [&](const Scatter& a, const Scatter& b) {
    return std::abs(a.mean - mean) < std::abs(b.mean - mean);
  });
  rows.resize(std::min(rows.size(), nearest));
  std::vector<double> deviations;
  for (const Scatter& row : rows)
    deviations.push_back(row.deviation / std::sqrt(median_of_squares(row.degrees)));
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

double Repeatability::half_width() const {
  constexpr double normal_95 = 1.959964;   // half of the central 95 % of a normal distribution
  constexpr double normal_50 = 0.6744898;  // of its central half: the median of absolute values
  return normal_95 * difference / normal_50 / std::numbers::sqrt2;
}

bool repeats_well(const Repeatability& found, double precision) {
  constexpr double most_if_well = 2.5;
  return found.half_width() <= most_if_well * precision;
}

std::optional<Repeatability> repeatability(std::span<const TimedTwice> pairs) {
  std::vector<double> differences, apart;
  for (const TimedTwice& pair : pairs) {
    if (pair.first <= 0 || pair.again <= 0) continue;
    differences.push_back(std::abs(std::log(pair.again / pair.first)));
    apart.push_back(pair.apart);
  }
  if (differences.empty()) return std::nullopt;
  const double largest = *std::max_element(differences.begin(), differences.end());
  const std::uint64_t times = differences.size();
  return Repeatability{times, median(std::move(differences)), largest, median(std::move(apart))};
}

void WidthTally::add(std::optional<double> half_width) {
  ++number_;
  if (!half_width || *half_width > wide) ++wider_;
  const auto step = half_width ? step_of(*half_width) : std::nullopt;
  if (step) ++counts_[*step];
}

std::optional<double> WidthTally::most_within() const {
  const std::size_t most = (3 * number_ + 3) / 4;
  std::size_t found = 0;
  for (const auto& [step, count] : counts_)
    if ((found += count) >= most) return step;
  return std::nullopt;
}

std::size_t WidthTally::others() const {
  const std::optional<double> most = most_within();
  std::size_t found = 0;
  for (const auto& [step, count] : counts_)
    if (most && step <= *most) found += count;
  return number_ - found;
}

std::optional<double> WidthTally::step_of(double half_width) {
  constexpr double steps[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05,
                              0.07,  0.1,   0.15,  0.2,  0.3,  0.5,  1};
  const auto* const step = std::lower_bound(std::begin(steps), std::end(steps), half_width);
  return step == std::end(steps) ? std::nullopt : std::optional(*step);
}

}  // namespace ccl_tests
