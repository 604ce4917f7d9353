// What times that were measured once more say about all times of a run. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace ccl_tests {

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

// What the half width is for the precision that was asked for: up to 2.5 times as much (`well`: short
// measurements differ by more than long ones), or more.
enum class Repeating { well, badly };
Repeating repeating(const Repeatability& found, double precision);

// Returns nullopt if no pair has two times.
std::optional<Repeatability> repeatability(std::span<const TimedTwice> pairs);

}  // namespace ccl_tests
