// The share of a reduction that a short message can show.
#pragma once

#include <cstddef>

#include "verify/inputs.hpp"

namespace ccl_tests::verify {

// Elements of the period at which a reduction's rows may start: at least one turn of all ranks is
// left before the period wraps, because the wrap breaks the order of turns.
std::size_t first_phases(const Inputs& inputs);

// Share of ranks whose missing contribution shows in elements [start, start + count) of the period;
// 1 for data movement.
double coverage(const Inputs& inputs, std::size_t start, std::size_t count);

// The smallest message, in elements, in which every rank's missing contribution shows, wherever
// below first_phases() in the period it starts; 0: none up to a period long. O(ranks x period).
std::size_t complete_from(const Inputs& inputs);

}  // namespace ccl_tests::verify
