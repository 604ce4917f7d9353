// Says in one line how sure the times of a run are. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace ccl_tests {

// Counts half widths of 95 % intervals over their times, by the least step that they are within. Takes the
// same memory however many there are.
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
  static constexpr std::array<double, 14> steps = {0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05,
                                                   0.07,  0.1,   0.15,  0.2,  0.3,  0.5,  1};

  std::array<std::size_t, steps.size()> counts_ = {};  // those that are within no smaller step
  std::size_t number_ = 0, wider_ = 0;
};

}  // namespace ccl_tests
