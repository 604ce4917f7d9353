// Sizes shared by the specs: how a requested size is divided over the ranks.
#pragma once

#include <cstddef>

#include "src/core/collective.hpp"

namespace ccl::collectives {

// Elements of one rank's block: count / ranks, rounded down to 16 bytes (as nccl-tests does, so
// that blocks stay aligned).
inline std::size_t block(const Shape& s) {
  const std::size_t step = s.type_bytes >= 16 ? 1 : 16 / s.type_bytes;
  return s.count / static_cast<std::size_t>(s.place.ranks) / step * step;
}

inline std::size_t ranks(const Shape& s) { return static_cast<std::size_t>(s.place.ranks); }
inline std::size_t rank(const Shape& s) { return static_cast<std::size_t>(s.place.rank); }
inline bool is_root(const Shape& s) { return s.place.rank == s.place.root; }

// (n - 1) / n: the share of the data that crosses a link when every rank keeps its own block.
inline double others_share(const Shape& s) {
  return static_cast<double>(s.place.ranks - 1) / s.place.ranks;
}
inline double whole(const Shape& /*s*/) { return 1; }

}  // namespace ccl::collectives
