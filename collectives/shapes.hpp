// What the specs share: how a requested size is divided over the ranks, layouts, bus factors.
#pragma once

#include <cstddef>

#include "src/core/collective.hpp"

namespace ccl_tests::collectives {

// Elements of one rank's block: count / ranks, rounded down to 16 bytes (as nccl-tests does, so
// that blocks stay aligned).
inline std::size_t block(const Shape& s) {
  const std::size_t step = s.type_bytes >= 16 ? 1 : 16 / s.type_bytes;
  return s.count / static_cast<std::size_t>(s.self.ranks) / step * step;
}

inline std::size_t ranks(const Shape& s) { return static_cast<std::size_t>(s.self.ranks); }
inline std::size_t rank(const Shape& s) { return static_cast<std::size_t>(s.self.rank); }
inline bool is_root(const Shape& s) { return s.self.rank == s.root; }

// (n - 1) / n: the share of the data that crosses a link when every rank keeps its own block.
inline double others_share(const Shape& s) {
  return static_cast<double>(s.self.ranks - 1) / s.self.ranks;
}
// Every element is sent once to be reduced and once to be distributed, except a rank's own share.
inline double reduced_and_gathered(const Shape& s) { return 2 * others_share(s); }
inline double whole(const Shape& /*s*/) { return 1; }

// Every rank has a buffer of n elements before and after, in place too.
inline Layout replaced(const Shape& s, std::size_t n) {
  return {.send = n,
          .recv = n,
          .count = n,
          .table_count = n,
          .algbw_bytes = n * s.type_bytes,
          .in_place = InPlace{0, 0}};
}
// The same of the requested size.
inline Layout whole_replaced(const Shape& s) { return replaced(s, s.count); }

}  // namespace ccl_tests::collectives
