// Rows of both sides, matched.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tools/compare/rows.hpp"

namespace ccl_tests::compare {

// A run of the base and a run of the head that are compared with each other.
struct RunPair {
  RunTimes base, head;
};

// The times of one row, one element a pair.
struct RowPairs {
  std::vector<RowTime> base, head;

  std::size_t size() const { return base.size(); }
  std::vector<double> log_ratios() const;  // ln(head / base)
};

struct Matched {
  std::map<RowKey, RowPairs> rows;  // that at least one pair has on both sides
  std::size_t only_base = 0, only_head = 0;
};

// Matches the rows of each pair by their keys. only_base and only_head count the rows that no pair
// has on both sides.
Matched match(const std::vector<RunPair>& pairs);

}  // namespace ccl_tests::compare
