// The parts that specs share: how a requested size is divided over the ranks, evenly or as --skew
// says, layouts, expected results, bus factors, operations.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "src/core/collective.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests::collectives {

inline std::size_t ranks(const Shape& s) { return static_cast<std::size_t>(s.self.ranks); }
inline std::size_t rank(const Shape& s) { return static_cast<std::size_t>(s.self.rank); }
inline bool is_root(const Shape& s) { return s.self.rank == s.root; }

// Returns the elements of 16 bytes. Blocks are rounded down to them and so stay aligned, as in
// nccl-tests.
inline std::size_t alignment(const Shape& s) { return s.type_bytes >= 16 ? 1 : 16 / s.type_bytes; }

// Returns the elements of one rank's block: count / ranks, rounded down to 16 bytes.
inline std::size_t block(const Shape& s) {
  return s.count / ranks(s) / alignment(s) * alignment(s);
}

// Returns (n - 1) / n: the share of the data that crosses a link if every rank keeps its own block.
inline double others_share(const Shape& s) {
  return static_cast<double>(s.self.ranks - 1) / s.self.ranks;
}
// Returns 2 (n - 1) / n: every element is sent once to be reduced and once to be distributed,
// except a rank's own share.
inline double reduced_and_gathered(const Shape& s) { return 2 * others_share(s); }
inline double whole(const Shape& /*s*/) { return 1; }

// Returns the layout of a collective that replaces n elements on every rank by as many. In place,
// both buffers are the same.
inline Layout replaced(const Shape& s, std::size_t n) {
  return {.send = n,
          .recv = n,
          .count = n,
          .table_count = n,
          .algbw_bytes = n * s.type_bytes,
          .in_place = InPlace{0, 0}};
}
inline Layout whole_replaced(const Shape& s) { return replaced(s, s.count); }

// Returns the layout of a rooted collective in which the root alone sends, or receives.
inline Layout sent_by_root(const Shape& s, Layout layout) {
  if (!is_root(s)) layout.send = 0;
  return layout;
}
inline Layout received_by_root(const Shape& s, Layout layout) {
  if (!is_root(s)) layout.recv = 0;
  return layout;
}
// Returns the layout of a collective that has no in-place form.
inline Layout out_of_place(Layout layout) {
  layout.in_place.reset();
  return layout;
}

inline std::vector<ExpectedBlock> nothing(const Shape& /*s*/) { return {}; }
// Returns the one block of a receive buffer that holds `count` elements of a rank's input, or the
// reduction of them (ExpectedBlock::all_ranks).
inline std::vector<ExpectedBlock> one_block(int source_rank, std::size_t count,
                                            std::size_t source_offset = 0) {
  return {{.recv_offset = 0,
           .count = count,
           .source_rank = source_rank,
           .source_offset = source_offset}};
}
inline std::vector<ExpectedBlock> reduction(std::size_t count, std::size_t source_offset = 0) {
  return one_block(ExpectedBlock::all_ranks, count, source_offset);
}
inline std::vector<ExpectedBlock> whole_reduced(const Shape& s) { return reduction(s.count); }

// Uneven blocks, of the vector collectives.

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

// Makes the operation of a collective that is one `issue` per call (Collective::make). issue: a
// member of Communicator, or a function of a communicator and a call.
template <auto issue>
std::unique_ptr<Operation> calls(ControlChannel& /*channel*/, Communicator& communicator,
                                 const Shape& /*shape*/, DataType /*type*/) {
  return std::make_unique<LibraryCall<issue>>(communicator);
}

}  // namespace ccl_tests::collectives
