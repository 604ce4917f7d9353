// The parts that specs share: how a requested size is divided over the ranks, layouts, expected results,
// bus factors, operations.
#pragma once

#include <cstddef>
#include <memory>
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

// Makes the operation of a collective that is one `issue` per call (Collective::make). issue: a
// member of Communicator, or a function of a communicator and a call.
template <auto issue>
std::unique_ptr<Operation> calls(ControlChannel& /*channel*/, Communicator& communicator,
                                 const Shape& /*shape*/, DataType /*type*/) {
  return std::make_unique<LibraryCall<issue>>(communicator);
}

}  // namespace ccl_tests::collectives
