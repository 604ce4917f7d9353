// Finds the rank or link that stands out of the times of all pairs, and words it for the footer.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

// Returns what rows of pairs say of their ranks, once for all sizes, types, cycles and placements.
// `hosts`: by rank; ranks on several hosts are compared by their messages between hosts. A rank is
// named if in a band of sizes (bands_of) its pairs take at least 1.1 times as long as the others,
// its effect is several times its standard error and the spread of the ranks, and the rank sums of
// its pairs over the band's takes (fit_band) are as large by chance in fewer than 1 of 2000 runs,
// over all ranks and bands. A pair is named by the same rule if neither of its ranks is, from 6
// hosts on. Of less than 4 hosts (ranks, if they share one host) nobody is named, of 4 or 5 at most
// one, of more at most a third; no one if more stand out (tests/unit/pair_power_test.cpp).
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
