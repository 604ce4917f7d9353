// A point of the sweep as one rank sees it.
#pragma once

#include <string>
#include <vector>

#include "src/run/point.hpp"
#include "src/run/row_bytes.hpp"

namespace ccl_tests {

struct Problem {
  const Collective* collective;
  SweepPoint point;
  Shape shape;
  Layout layout;
  std::vector<ExpectedBlock> blocks;  // what the receive buffer holds after a call
  RowBytes bytes;
  int peer = -1;  // the other rank of this one's pair

  // False for a rank that is in no pair: it only takes part in barriers.
  bool takes_part() const { return shape.self.group >= 0; }
  std::size_t width() const { return shape.type_bytes; }
  // Returns one call of it, on these buffers.
  Call call(const void* send, void* recv) const;
  // Returns "all_reduce float sum, 8388608 B", with the pair of a paired collective.
  std::string text() const;
};

// Pure. options: outlive the problem.
Problem problem(const Collective& collective, const SweepPoint& point,
                const CollectiveOptions& options, int world_rank);

// Returns the shape of a point as the first rank of group `group` sees it.
Shape shape_of(const SweepPoint& point, const CollectiveOptions& options, int group);

}  // namespace ccl_tests
