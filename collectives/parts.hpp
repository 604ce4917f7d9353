// Uneven blocks, shared by the vector collectives: how --skew divides a requested size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {

// Shares of the whole that block r of n gets. one_large: the last is 1000 times any other.
inline std::size_t shares(Skew skew, std::size_t r, std::size_t n) {
  switch (skew) {
    case Skew::equal: break;
    case Skew::linear: return r + 1;
    case Skew::one_large: return r + 1 == n ? 1000 : 1;
  }
  return 1;
}

// Elements of each of n objects: count * shares / all shares, rounded down to `step` elements.
inline std::vector<std::size_t> divided(const Shape& s, std::size_t n, std::size_t step = 1) {
  std::size_t all = 0;
  for (std::size_t r = 0; r < n; ++r) all += shares(s.options.skew, r, n);
  std::vector<std::size_t> result;
  for (std::size_t r = 0; r < n; ++r) {
    const std::size_t mine = shares(s.options.skew, r, n);
    // count * mine / all without its overflow
    const std::size_t exact = s.count / all * mine + s.count % all * mine / all;
    result.push_back(exact / step * step);
  }
  return result;
}

// The ranks' blocks, rounded down to 16 bytes.
inline std::vector<std::size_t> parts(const Shape& s) {
  return divided(s, ranks(s), s.type_bytes >= 16 ? 1 : 16 / s.type_bytes);
}

inline std::size_t sum(const std::vector<std::size_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::size_t{0});
}

// Where adjacent blocks begin.
inline std::vector<std::size_t> offsets(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> result(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), result.begin(), std::size_t{0});
  return result;
}

// One rank's blocks.
struct Parts {
  explicit Parts(const Shape& s)
      : counts(parts(s)), at(offsets(counts)), all(sum(counts)), mine(counts[rank(s)]) {}
  std::vector<std::size_t> counts, at;  // by rank
  std::size_t all, mine;
};

// A segment for each rank's block, in rank order.
inline std::vector<ExpectedBlock> blocks_of_all(const Shape& s) {
  const Parts p(s);
  std::vector<ExpectedBlock> segments;
  for (std::size_t r = 0; r < ranks(s); ++r) {
    segments.push_back({.recv_offset = p.at[r],
                        .count = p.counts[r],
                        .source_rank = static_cast<int>(r),
                        .source_offset = 0});
  }
  return segments;
}

// Every rank sends its block; whoever receives, receives all.
inline Layout gathered(const Shape& s, bool receives) {
  const Parts p(s);
  return {.send = p.mine,
          .recv = receives ? p.all : 0,
          .count = p.mine,
          .table_count = block(s),
          .algbw_bytes = p.all * s.type_bytes,
          .in_place = InPlace{p.at[rank(s)], 0}};
}
// Whoever sends, sends all blocks; every rank receives its own.
inline Layout scattered(const Shape& s, bool sends) {
  const Parts p(s);
  return {.send = sends ? p.all : 0,
          .recv = p.mine,
          .count = p.mine,
          .table_count = block(s),
          .algbw_bytes = p.all * s.type_bytes,
          .in_place = InPlace{0, p.at[rank(s)]}};
}

inline Counts received_parts(const Shape& s) {
  Parts p(s);
  return {.send_counts = {}, .send_offsets = {}, .recv_counts = p.counts, .recv_offsets = p.at};
}
inline Counts sent_parts(const Shape& s) {
  Parts p(s);
  return {.send_counts = p.counts, .send_offsets = p.at, .recv_counts = {}, .recv_offsets = {}};
}

// The share of all data that does not stay on the rank that keeps `kept` elements of it.
inline double share_beyond(std::size_t kept, std::size_t all) {
  return all == 0 ? 1 : static_cast<double>(all - kept) / static_cast<double>(all);
}

// Of all ranks the one with the smallest block has most to get of the others', or to give to them.
inline double beyond_the_smallest(const Shape& s) {
  const Parts p(s);
  return share_beyond(*std::min_element(p.counts.begin(), p.counts.end()), p.all);
}
inline double beyond_the_roots(const Shape& s) {
  const Parts p(s);
  return share_beyond(p.counts[static_cast<std::size_t>(s.root)], p.all);
}

}  // namespace ccl_tests::collectives
