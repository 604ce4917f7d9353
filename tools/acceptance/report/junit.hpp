// Checks as test cases, for CI.
#pragma once

#include <string>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// Returns a JUnit document: a suite for each stage, a case for each check, and a case for the run's
// own verdict, so that a run that did not end is never green. FAIL is a failure, INCONCLUSIVE an
// error; WARN passes with its text as output.
std::string junit_text(const Record& record);

}  // namespace ccl_tests::acceptance
