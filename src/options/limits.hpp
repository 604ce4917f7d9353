// Limits that a run must keep to pass.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ccl_tests {

// GB/s or microseconds of the rows of one size.
struct SizeLimit {
  std::size_t bytes;
  double value;
};

struct Limits {
  std::vector<SizeLimit> min_busbw, max_time;
  std::optional<double> min_average_busbw;  // GB/s

  bool of_sizes() const { return !min_busbw.empty() || !max_time.empty(); }
};

}  // namespace ccl_tests
