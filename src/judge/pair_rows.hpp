// Sums up the rows of pairs for the footer. Pure.
#pragma once

#include <string>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

// Returns, for the first and the last size, if every two of 4 to 16 ranks were measured, the times
// of all pairs as a matrix. A pair's time is the smallest of its rows' halves. Of more ranks,
// returns a line that says which of `files` has the times.
std::vector<std::string> pair_matrices(const std::vector<Row>& rows,
                                       const std::vector<std::string>& files);

// Returns footer lines for each size and type: messages per second in one direction; at_once: of
// all pairs.
std::vector<std::string> message_rates(const std::vector<Row>& rows, bool at_once);

}  // namespace ccl_tests
