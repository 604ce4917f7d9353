// What options ask for together.
#pragma once

#include "src/options/options.hpp"

namespace ccl_tests {

// Sets -f to 1 if -i stands alone. Throws UsageError, Unsupported for options that contradict each
// other or mean nothing together.
void check_combinations(const Collective& collective, Options& options);

}  // namespace ccl_tests
