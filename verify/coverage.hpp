// How much of a reduction a short message can show.
#pragma once

#include <cstddef>

#include "verify/inputs.hpp"

namespace ccl::verify {

// Share of ranks whose missing contribution shows in elements [start, start + count) of the period;
// 1 for data movement.
double coverage(const Inputs& inputs, std::size_t start, std::size_t count);

// The smallest message, in elements, in which every rank's missing contribution shows, wherever
// below `starts` in the period it begins; 0: none that is up to a period long.
std::size_t complete_from(const Inputs& inputs, std::size_t starts);

}  // namespace ccl::verify
