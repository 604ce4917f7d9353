// Limits that a run must keep to pass.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/options/placements.hpp"

namespace ccl_tests {

// GB/s or microseconds of the rows of one size.
struct SizeLimit {
  std::size_t bytes;
  double value;
  Placements times = Placements::both;  // that the limit is of
};

struct Limits {
  std::vector<SizeLimit> min_busbw, max_time;
  std::optional<double> min_average_busbw;  // GB/s
  std::string baseline;                     // the results of an earlier run; empty: none
  double tolerance = 0.2;                   // times may be longer than its by this share

  bool of_rows() const { return !min_busbw.empty() || !max_time.empty() || !baseline.empty(); }
};

}  // namespace ccl_tests
