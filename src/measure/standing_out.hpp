// Whether one rank of several is last more often than chance makes it. Pure.
#pragma once

#include <cstdint>

namespace ccl_tests {

// Returns true if a rank that was last in `hits` of `trials` samples may be named: in more than half of
// them and more than three times as often as `chance` (1 / ranks), and by chance with a probability
// below 0.001. Of 2 or 3 ranks nobody is: one of so few is last often enough without a reason.
bool stands_out(std::uint64_t trials, std::uint64_t hits, double chance);

}  // namespace ccl_tests
