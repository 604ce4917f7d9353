// How far few times of the same kind scatter: a row's passes, or runs. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace ccl_tests {

// Of the logarithms of n times: their mean and standard deviation, which has n - 1 degrees of freedom.
struct Scatter {
  double mean = 0;
  double deviation = 0;
  std::size_t degrees = 0;
};

// `times` must be positive, and at least one.
Scatter scatter_of(std::span<const double> times);

// The same around the median, by the median absolute deviation: of times of which fewer than half may be of other work.
Scatter robust_scatter_of(std::span<const double> times);

// Returns the deviation that is usual among rows: the median, as if all had many times. nullopt of less than
// eight with two times or more: so few say little of another one.
std::optional<double> usual_deviation(std::span<const Scatter> rows);

// Returns half of the width of the 95 % interval of the logarithm of one more time: Student's t times s sqrt(1 + 1/n).
// s^2 is the mean of the row's own and the usual one, which counts as two degrees of freedom (moderated t: Smyth,
// "Linear models and empirical Bayes methods", 2004): three times that happen to agree do not make a row certain, and
// three that happen to differ do not make it worthless. 0 of less than two times.
double half_width_of_another(const Scatter& row, std::optional<double> usual = {});

}  // namespace ccl_tests
