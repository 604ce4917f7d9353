// What connections may do that have not yet proved that they belong to the job.
#pragma once

#include <cstddef>

namespace ccl_tests {

struct UnverifiedLimits {
  double limit_s = 10;     // so long each may take
  std::size_t most = 128;  // at least 1; of more than these, the oldest are closed at once
};

// For a job all of whose processes may come at the same moment.
inline UnverifiedLimits unverified_beside(int processes) {
  return {10, 128 + static_cast<std::size_t>(processes)};
}

}  // namespace ccl_tests
