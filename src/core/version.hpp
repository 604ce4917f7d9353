// The version of the suite.
#pragma once

namespace ccl_tests {

// "0.1.0". Processes of a job must have the same.
const char* version();

// The commit that was built, as git describes it: "v0.1.0-3-g1234567", "1234567-dirty". Empty if
// the sources were no git work tree.
const char* revision();

}  // namespace ccl_tests
