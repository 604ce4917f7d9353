// The times of a run's pairs, side by side. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

// The times of all pairs in one size, type, cycle and placement.
struct PairTake {
  std::size_t bytes = 0;
  std::vector<double> log_seconds;  // natural logarithm, in the order of PairTable::pairs
};

struct PairTable {
  std::vector<RankPair> pairs;  // the smaller rank first; ascending
  std::vector<PairTake> takes;  // ascending sizes
};

// Returns the times of rows that have a pair. Leaves out takes in which a pair has no time above 0 (-n 0,
// a run that was interrupted), and in-place times that repeat the out-of-place ones.
PairTable pair_table(const std::vector<Row>& rows);

// Returns the table without pairs of ranks that share a host, if that leaves any. `hosts`: by rank. Within
// a host messages take another way, so that a rank with few neighbours would look slow.
PairTable between_hosts(const PairTable& table, const std::vector<std::string>& hosts);

}  // namespace ccl_tests
