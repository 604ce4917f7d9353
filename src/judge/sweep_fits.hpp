// The fits of a run's sweeps over sizes. Pure.
#pragma once

#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

// A cell of the table, as fits need it.
struct TimedCell {
  DataType type = DataType::float32;
  std::optional<ReduceOp> op;
  std::optional<int> root;
  bool in_place = false;
  bool judged = true;  // false: the interval is so wide that no fit could be held to the time
  SizeTime time;
};

// Appends the row's cells. The sigma of a time is its interval's half width over 1.96, at least 1 %,
// and 3 % for batches. A time is not judged if the half width is above 15 % or not known. Leaves out in-place cells that repeat the out-of-place ones.
void add_cells(std::vector<TimedCell>& cells, const Row& row);

// Returns a fit for each type, operation, root and placement that has more than one size, in the order
// in which they came.
std::vector<SweepFit> sweep_fits(const std::vector<TimedCell>& cells);

}  // namespace ccl_tests
