// Bytes that a formula on doubles gives.
#pragma once

#include <cstddef>

namespace ccl_tests {

// Returns `bytes` (at least 0) rounded down. A whole number stays one, even if the formula's
// roundings, in whatever way the processor rounds, left it some last places too small.
inline std::size_t whole_bytes(double bytes) {
  return static_cast<std::size_t>(bytes * (1 + 0x1p-49));
}

}  // namespace ccl_tests
