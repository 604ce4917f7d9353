// --self-check: a spec against the textbook.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "src/core/collective.hpp"

namespace ccl_tests {

// Runs `collective` on loopback, whose collectives are written from their definitions, for 1 to 9
// ranks (every root, out of place and in place, several sizes), and compares with what its segments
// state; checks that segments stay within the layout and do not overlap, and that bus_factor stands
// for the bytes that an independent count gives; likewise its other modes. Of a paired one: pairs.
// Returns what does not hold, one line each.
std::vector<std::string> find_spec_errors(const Collective& collective);

// Prints the verdict; 0 or Exit::wrong_data.
int self_check(const Collective& collective, std::FILE* out);

}  // namespace ccl_tests
