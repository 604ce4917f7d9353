// Uneven blocks, shared by the vector collectives: how --skew divides a requested size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "collectives/shapes.hpp"

namespace ccl_tests::collectives {

// Returns the shares of the whole that block r of n gets. one_large: the last block is 1000 times
// any other.
inline std::size_t shares(Skew skew, std::size_t r, std::size_t n) {
  switch (skew) {
    case Skew::equal: break;
    case Skew::linear: return r + 1;
    case Skew::one_large: return r + 1 == n ? 1000 : 1;
  }
  return 1;
}

// Returns the elements of each of n objects: count * shares / all shares, rounded down to `step`
// elements.
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

// Returns the elements of each rank's block, rounded down to 16 bytes.
inline std::vector<std::size_t> parts(const Shape& s) { return divided(s, ranks(s), alignment(s)); }

inline std::size_t sum(const std::vector<std::size_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::size_t{0});
}

// Returns where adjacent blocks begin.
inline std::vector<std::size_t> offsets(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> result(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), result.begin(), std::size_t{0});
  return result;
}

// All ranks' blocks, one after the other.
struct Parts {
  explicit Parts(const Shape& s)
      : counts(parts(s)), at(offsets(counts)), all(sum(counts)), mine(counts[rank(s)]) {}
  std::vector<std::size_t> counts, at;  // by rank
  std::size_t all, mine;
};

// The ranks that have the buffer of all blocks.
enum class Who { all, root };

// Returns the layout of a collective in which every rank sends its block. `receivers` receive all
// blocks.
inline Layout gathered(const Shape& s, Who receivers) {
  Parts p(s);
  return {.send = p.mine,
          .recv = receivers == Who::all || is_root(s) ? p.all : 0,
          .count = p.mine,
          .table_count = block(s),
          .algbw_bytes = p.all * s.type_bytes,
          .in_place = InPlace{p.at[rank(s)], 0},
          .counts = Counts{.recv_counts = std::move(p.counts), .recv_offsets = std::move(p.at)}};
}
// Returns the layout of a collective in which every rank receives its block. `senders` send all
// blocks.
inline Layout scattered(const Shape& s, Who senders) {
  Parts p(s);
  return {.send = senders == Who::all || is_root(s) ? p.all : 0,
          .recv = p.mine,
          .count = p.mine,
          .table_count = block(s),
          .algbw_bytes = p.all * s.type_bytes,
          .in_place = InPlace{0, p.at[rank(s)]},
          .counts = Counts{.send_counts = std::move(p.counts), .send_offsets = std::move(p.at)}};
}

// Every rank's block, in rank order.
inline std::vector<ExpectedBlock> blocks_of_all(const Shape& s) {
  const Parts p(s);
  std::vector<ExpectedBlock> blocks;
  for (std::size_t r = 0; r < ranks(s); ++r)
    blocks.push_back({.recv_offset = p.at[r],
                      .count = p.counts[r],
                      .source_rank = static_cast<int>(r),
                      .source_offset = 0});
  return blocks;
}
inline std::vector<ExpectedBlock> blocks_on_root(const Shape& s) {
  return is_root(s) ? blocks_of_all(s) : nothing(s);
}

// Returns the share of all data that does not stay on the rank that keeps `kept` elements of it.
inline double share_beyond(std::size_t kept, std::size_t all) {
  return all == 0 ? 1 : static_cast<double>(all - kept) / static_cast<double>(all);
}

// Returns the share that the rank with the smallest block gets from the other ranks or gives to
// them. Any other rank's share is smaller.
inline double beyond_the_smallest(const Shape& s) {
  const Parts p(s);
  return share_beyond(*std::min_element(p.counts.begin(), p.counts.end()), p.all);
}
inline double beyond_the_roots(const Shape& s) {
  const Parts p(s);
  return share_beyond(p.counts[static_cast<std::size_t>(s.root)], p.all);
}

}  // namespace ccl_tests::collectives
