// Finds the rank or link that stands out of the times of all pairs, and words it for the footer.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

// Returns what rows say of their ranks and pairs, once for all sizes, types, cycles and placements
// (docs/METHOD.md, Pairs). Each row has a pair. `hosts`: of all ranks, by rank.
PairJudgement judge_pairs(const std::vector<Row>& rows, const std::vector<std::string>& hosts);

// Returns, for the first and the last size, if every two of 4 to 16 ranks were measured, the times
// of all pairs as a matrix. A pair's time is the smallest of its rows' halves. Of more ranks,
// returns a line that says which of `files` has the times.
std::vector<std::string> pair_matrices(const std::vector<Row>& rows,
                                       const std::vector<std::string>& files);

// Returns the answers of the footer, a sentence each: what stands out (at most four), or that
// nothing does and what would have. Empty if there were no rows of several pairs.
std::vector<std::string> pair_answers(const PairJudgement& judgement);

// Returns footer lines for each size and type: messages per second in one direction; at_once: of
// all pairs.
std::vector<std::string> message_rates(const std::vector<Row>& rows, bool at_once);

}  // namespace ccl_tests
