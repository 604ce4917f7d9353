// What the search over pairs of hosts found, as checks.
#pragma once

#include <cstddef>

#include "tools/acceptance/search/confirm.hpp"
#include "tools/acceptance/stages/stages.hpp"

namespace ccl_tests::acceptance {

// Adds a check of each host, each link and uplink that was found, of the search as a whole, and of the rate that half of
// the pairs reach beside that of the wires. bytes: of a message. On rank 0.
void add_pair_checks(Context& context, const Findings& findings, std::size_t bytes);

// The same of the ranks with number `rail` of each host, from 0: a check of each host and of the search. On rank 0.
void add_rail_checks(Context& context, const Findings& findings, std::size_t bytes,
                     std::size_t rail);

}  // namespace ccl_tests::acceptance
