// What is run: sizes, types, operations, roots, groups and pairs of ranks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/core/types.hpp"
#include "src/options/pairing.hpp"
#include "src/options/placements.hpp"
#include "src/options/rank_groups.hpp"

namespace ccl_tests {

struct SweepOptions {
  std::size_t min_bytes = 32 << 20, max_bytes = 32 << 20, step_bytes = 1 << 20;
  int step_factor = 2;             // 1: steps of step_bytes
  std::vector<std::size_t> sizes;  // in bytes; not empty: replaces the four above
  std::size_t unalign = 0;         // elements
  std::vector<DataType> types = {DataType::float32};
  std::vector<ReduceOp> ops = {ReduceOp::sum};
  std::vector<int> roots = {0};
  bool all_roots = false;  // instead of `roots`
  int cycles = 1;          // 0: until stopped, or until the duration is over
  double duration_s = 0;   // of all cycles together; 0: `cycles` says how many
  int passes = 1;          // over the whole sweep, whose rows become one
  std::string mode;        // of the program's forms; empty: its default
  SplitRule grouping;
  bool group_rows = false;  // one row per group instead of the slowest group's
  Pairing pairing;
  bool concurrent = false;  // pairs without a common rank at the same time
  Placements placements = Placements::both;
};

// The sizes of the sweep, ascending as given.
std::vector<std::size_t> sweep_sizes(const SweepOptions& options);

}  // namespace ccl_tests
