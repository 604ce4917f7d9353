// How large a row's buffers are.
#pragma once

#include <cstddef>

#include "src/core/collective.hpp"

namespace ccl_tests {

// Largest buffer of any rank for one size: bytes of one message of max(send, recv), which is also
// the "size" column, and of the whole (in-place) region. Pure.
struct RowBytes {
  std::size_t size = 0;
  std::size_t region = 0;
};
RowBytes row_bytes(const Collective& collective, const Shape& shape);

}  // namespace ccl_tests
