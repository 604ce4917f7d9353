// One rank's verifier: fills inputs, poisons outputs, compares results bit for bit and says what
// went wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/core/collective.hpp"
#include "verify/loops.hpp"
#include "verify/pattern.hpp"
#include "verify/right_results.hpp"

namespace ccl_tests::verify {

// Elements that differ, where, and what they look like.
struct Mismatch {
  std::uint64_t wrong = 0;          // 0: as expected
  std::size_t first = 0, last = 0;  // element indices in the compared buffer
  // Expected and found bits of `first`, what the found values are, and whether a second look on the host finds them, too.
  std::string explanation;

  // Of wide and special data. What was seen that is right in one reading.
  Observations seen = {};
  // A digest of what ranks with the same blocks must agree on, over all calls: with special data,
  // where NaNs are; with wide data of so many ranks that there is a bound only, all bits. 0: of
  // nothing. received: which blocks of the reduction this rank received.
  std::uint64_t digest = 0, received = 0;

  // Adds another finding: the first explanation stays.
  void add(const Mismatch& other);
};

// Bytes directly before and behind a row's data that nobody may write.
inline constexpr std::size_t guard_bytes = 4096;

// Used by one thread.
class Verifier {
 public:
  // loops: of the memory in which the buffers lie; outlives the verifier.
  Verifier(std::shared_ptr<const Pattern> pattern, int rank, Loops& loops = host_loops());

  const Pattern& pattern() const { return *pattern_; }

  // This rank's input of `count` elements for a call in slot `slot`.
  void fill_input(void* out, std::size_t count, std::size_t slot) const;

  // Makes every element that `blocks` name differ from its expected value; all `count` elements
  // are overwritten.
  void poison(void* out, std::size_t count, std::span<const ExpectedBlock> blocks,
              std::size_t slot) const;

  // recv: `count` elements, as the call left them.
  Mismatch compare(const void* recv, std::span<const ExpectedBlock> blocks, std::size_t slot) const;

  // Sets `bytes` bytes to 0.
  void clear(void* out, std::size_t bytes) const;

  // The send buffer of an out-of-place call must still be what fill_input wrote.
  Mismatch compare_input(const void* send, std::size_t count, std::size_t slot) const;

  // Guard zones around data [begin, begin + bytes): mark before the call, check after it.
  void mark_guards(void* begin, std::size_t bytes) const;
  Mismatch check_guards(const void* begin, std::size_t bytes) const;

 private:
  // A table of the pattern, and where the loops can read it.
  struct Source {
    Table table;
    std::unique_ptr<PlacedTable> placed;
  };

  std::size_t phase_of(const ExpectedBlock& block, std::size_t slot) const;
  const Source& source_of(const ExpectedBlock& block) const;
  // at: of the first in the block's source. nearest: the right result, if it is not the table's.
  // meaning: empty: it is looked for.
  std::string explain(const std::byte* found, std::size_t count, const ExpectedBlock& block,
                      std::size_t at, std::size_t slot, std::optional<std::uint64_t> nearest = {},
                      std::string meaning = {}) const;
  Mismatch compare_sum(const std::byte* data, const ExpectedBlock& block, std::size_t slot) const;
  // Judges the elements of a run of wide or special data that differ from the table.
  Mismatch judge(const StridedRange& run, const Table& table, const Difference& different,
                 const ExpectedBlock& block, std::size_t slot) const;

  std::shared_ptr<const Pattern> pattern_;
  int rank_;
  Loops* loops_;
  Source input_, expected_;
  // Of each element of the period another right result: that of the last call which had one.
  mutable std::vector<std::uint64_t> known_;
};

}  // namespace ccl_tests::verify
