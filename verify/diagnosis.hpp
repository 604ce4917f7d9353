// Names what wrong values are: another rank's data, another place's, an earlier call's, a reduction
// without one rank.
#pragma once

#include <cstddef>
#include <string>

#include "src/core/collective.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests::verify {

// `found`: `count` elements from the first wrong one on, which should have been element `at` of
// `block`'s source in `slot`, in rank `me`'s receive buffer. Empty when the values match nothing
// known.
std::string diagnose(const Pattern& pattern, int me, const std::byte* found, std::size_t count,
                     const ExpectedBlock& block, std::size_t at, std::size_t slot);

// The same of a block of terms: `found` should have been element `at` of the sum.
std::string diagnose_sum(const Pattern& pattern, const std::byte* found, std::size_t count,
                         const ExpectedBlock& block, std::size_t at, std::size_t slot);

}  // namespace ccl_tests::verify
