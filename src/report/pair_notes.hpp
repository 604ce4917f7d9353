// What the rows of pairs say together: which link, which rank is slow; how many messages pass.
#pragma once

#include <string>
#include <vector>

#include "src/report/record.hpp"

namespace ccl_tests {

// Footer lines for each size and type, where more than one pair was measured: the slowest pair, its
// hosts and how it compares with the median; where every two of at least four ranks met, the
// slowest rank too, and for the first and the last size the times of all pairs as a matrix, of up
// to 16 ranks. A pair's time is the smallest of its rows' halves: a bad link slows all of them.
// hosts: by rank.
std::vector<std::string> slowest_pairs(const std::vector<Row>& rows,
                                       const std::vector<std::string>& hosts);

// Footer lines for each size and type: messages per second in one direction; at_once: of all pairs
// together.
std::vector<std::string> message_rates(const std::vector<Row>& rows, bool at_once);

}  // namespace ccl_tests
