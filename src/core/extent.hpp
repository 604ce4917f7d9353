// The one place that knows how much of its buffers each operation reads and writes.
#pragma once

#include <cstddef>

#include "src/core/call.hpp"

namespace ccl_tests {

// Elements that an operation reads at Call::send and may write at Call::recv on this rank.
struct Extent {
  std::size_t send = 0, recv = 0;
};
Extent extent(OperationId operation, const Call& call);

}  // namespace ccl_tests
