// The faults of a row that a verifier has to find.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tools/mirrored_row.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests::tools {

struct Fault {
  std::string name;
  std::vector<Patch> patches;  // do not overlap
  // Wrong by more than averages may be off: found whatever the tolerance.
  bool gross = false;
};

// A row of `count` elements of a pattern, as a call should have left it on rank 0: element i is
// element i of rank 1's input, or of the reduction.
struct RightRow {
  const verify::Pattern& pattern;
  const std::byte* data;
  std::size_t count, slot;
  std::size_t shift;  // bytes from an aligned address to its first
};

// One period of the reduction without rank 2's contribution; empty for data movement.
verify::Table without_rank_2(const verify::Pattern& pattern);

// One bit of element `at` is the other one.
Fault flipped(const RightRow& row, std::size_t at, std::size_t bit);

// Faults of every kind that fit into the row. without: without_rank_2(row.pattern).
std::vector<Fault> faults_of(const RightRow& row, const verify::Table& without,
                             std::mt19937_64& random);

}  // namespace ccl_tests::tools
