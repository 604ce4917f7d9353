// A row before it is measured: what it is of.
#pragma once

#include "src/core/capabilities.hpp"
#include "src/record/record.hpp"
#include "src/run/problem.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests {

// Returns the row of group `group`. pattern: of its calls; nullptr: nothing is verified. numbered: groups have
// numbers in their rows.
Row unmeasured_row(const Problem& problem, int group, const Capabilities& library,
                   const verify::Pattern* pattern, bool numbered);

}  // namespace ccl_tests
