// The memory of this process.
#pragma once

#include <cstddef>

namespace ccl_tests {

// Returns its resident bytes; 0 where the kernel does not say.
std::size_t resident_bytes();

}  // namespace ccl_tests
