// Whether a plan measures what it has limits of.
#pragma once

#include <string>

#include "tools/acceptance/plan.hpp"

namespace ccl_tests::acceptance {

// Throws UsageError, which begins with `source`, if a limit says nothing, stands there twice, or is of a
// stage, program or size that the plan does not run.
void check_limits(const Plan& plan, const std::string& source);

}  // namespace ccl_tests::acceptance
