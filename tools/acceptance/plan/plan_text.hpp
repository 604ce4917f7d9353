// A plan in words, before it runs.
#pragma once

#include <string>

#include "tools/acceptance/plan/plan.hpp"

namespace ccl_tests::acceptance {

// Returns a line for each stage: what is run, what it is held to, how much memory and how long.
std::string plan_text(const Plan& plan);

}  // namespace ccl_tests::acceptance
