// The ranks that send messages to each other, and the pairs that do so at the same time: --pairs,
// --concurrent.
#pragma once

#include <string>
#include <vector>

#include "src/core/rank_pair.hpp"
#include "src/options/rank_groups.hpp"

namespace ccl_tests {

struct Pairing {
  bool all = false;  // every rank with every other
  std::vector<RankPair> list = {{0, 1}};
};

// "all" or "0:1,2:3". Throws UsageError.
Pairing parse_pairs(const std::string& text);

// The pairs of a job in the order of their measurement; those of one round at the same time. All pairs come
// in the order of a tournament, in which every rank has its turn in each ranks / 2 pairs: a machine that is slow for
// a while slows a few pairs of many ranks, not all pairs of one. concurrent: not one after the other. Throws UsageError for ranks that do not exist or are needed
// twice at once, Unsupported for a job of one rank.
using PairRound = std::vector<RankPair>;
std::vector<PairRound> pair_rounds(const Pairing& pairing, bool concurrent, int ranks);

// Each pair as a group of a job of `ranks` ranks, the others in none.
RankGroups as_groups(const PairRound& round, int ranks);

}  // namespace ccl_tests
