// Compares what a collective states of itself with the textbook.
#pragma once

#include <string>
#include <vector>

#include "src/core/collective.hpp"

namespace ccl_tests {

// Runs every form of `collective` on loopback, whose collectives are written from their
// definitions: 1 to 9 ranks (a paired collective: 2 ranks), every root, out of place and in place,
// several sizes. Checks that the results are the expected blocks, that the blocks stay within the
// layout and do not overlap, and that bus_factor stands for the bytes that an independent count
// gives. Returns one line for each error.
std::vector<std::string> find_spec_errors(const Collective& collective);

}  // namespace ccl_tests
