// Limits that a run must keep to pass.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ccl_tests {

// Which of a row's two times a limit is of.
enum class LimitedTimes { both, out_of_place, in_place };

// GB/s or microseconds of the rows of one size.
struct SizeLimit {
  std::size_t bytes;
  double value;
  LimitedTimes times = LimitedTimes::both;
};

// Whether a limit holds for a time in place, or for one out of place.
constexpr bool holds_for(LimitedTimes times, bool in_place) {
  return times == LimitedTimes::both || (times == LimitedTimes::in_place) == in_place;
}

struct Limits {
  std::vector<SizeLimit> min_busbw, max_time;
  std::optional<double> min_average_busbw;  // GB/s
  std::string baseline;                     // the results of an earlier run; empty: none
  double tolerance = 0.2;                   // times may be longer than its by this share

  bool of_rows() const { return !min_busbw.empty() || !max_time.empty() || !baseline.empty(); }
};

}  // namespace ccl_tests
