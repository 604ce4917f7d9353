// Judges all times of a run: by those that were measured once more, and by their intervals. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace ccl_tests {

// The scatter of few times of the same kind, a row's passes or runs: the mean and standard
// deviation of the logarithms of n times, with n - 1 degrees of freedom.
struct Scatter {
  double mean = 0;
  double deviation = 0;
  std::size_t degrees = 0;
};

// `times` must be positive, and at least one.
Scatter scatter_of(std::span<const double> times);

// The same around the median, by the median absolute deviation: of times of which fewer than half may be of other work.
Scatter robust_scatter_of(std::span<const double> times);

// Returns the deviation that is usual among the twelve rows whose times are nearest to exp(mean): the
// median, as if all had many times. Calls that take as long suffer from the same: launches of a few
// microseconds scatter by a tenth on machines where calls of a millisecond repeat within a percent.
// nullopt of less than eight rows with two times or more: so few say little of another one.
std::optional<double> usual_deviation(std::vector<Scatter> rows, double mean);

// Returns half of the width of the 95 % interval of the logarithm of one more time: Student's t times s sqrt(1 + 1/n).
// s^2 is the mean of the row's own and the usual one, which counts as two degrees of freedom (moderated t: Smyth,
// "Linear models and empirical Bayes methods", 2004): three times that happen to agree do not make a row certain, and
// three that happen to differ do not make it worthless. 0 of less than two times.
double half_width_of_another(const Scatter& row, std::optional<double> usual = {});

// One time, twice; seconds.
struct TimedTwice {
  double first = 0, again = 0;
  double apart = 0;  // from the one measurement to the other
};

struct Repeatability {
  std::uint64_t times = 0;  // that were measured again
  double difference = 0;    // median of |ln(again / first)|
  double largest = 0;       // of them
  double after_s = 0;       // median time between the two measurements

  // Half of the 95 % interval of a time, over it, as far as the moment at which it was measured matters:
  // of normally distributed times whose differences have this median.
  double half_width() const;
};

// Returns whether the half width is up to 2.5 times the precision that was asked for: short
// measurements differ by more than long ones.
bool repeats_well(const Repeatability& found, double precision);

// Returns nullopt if no pair has two times.
std::optional<Repeatability> repeatability(std::span<const TimedTwice> pairs);

// Counts half widths of 95 % intervals over their times, by the least step that they are within.
// Takes the same memory however many there are.
class WidthTally {
 public:
  // Wider times tell little: a regression of a tenth, which people look for, cannot be seen.
  static constexpr double wide = 0.1;

  // nullopt: a time without an interval.
  void add(std::optional<double> half_width);

  std::size_t number() const { return number_; }
  // Returns how many are wider than `wide`, or have no interval.
  std::size_t wider() const { return wider_; }
  // Returns the least step that three of four of them are within; nullopt if there is none.
  std::optional<double> most_within() const;
  // Returns how many are not within most_within().
  std::size_t others() const;

  // Returns the least step that is not below the width; nullopt above the largest one.
  static std::optional<double> step_of(double half_width);

 private:
  std::map<double, std::size_t> counts_;  // by step: those that are within no smaller one
  std::size_t number_ = 0, wider_ = 0;
};

}  // namespace ccl_tests
