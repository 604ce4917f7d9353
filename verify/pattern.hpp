// The pattern of one (type, op, ranks, seed): tables of inputs and of the expected result, and the
// phases that tell ranks and slots apart. Made once, shared by all ranks of a process, rotated and
// never recomputed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <tuple>
#include <vector>

#include "src/core/collective.hpp"
#include "verify/inputs.hpp"
#include "verify/table.hpp"

namespace ccl_tests::verify {

// In slot s, element i of rank r's input is input(r)[(i + phase(r, s)) mod period], and the
// reduction of element i is expected()[(i + phase(r, s)) mod period], where phases of a reduction
// do not depend on the rank.
class Pattern {
 public:
  Pattern(DataType type, std::optional<ReduceOp> op, int ranks, std::uint64_t seed,
          bool integers_wrap = true, std::uint64_t largest = 0, DataChoice data = {});

  const Inputs& inputs() const { return inputs_; }
  bool reduces() const { return inputs_.op().has_value(); }
  std::size_t width() const { return size_of(inputs_.type()); }

  // Seeded random choice without repetition, as long as ranks x slots fit into the period. (A phase
  // that grows linearly with the rank makes an alltoall that moved nothing look right when the
  // stride equals the block.)
  std::size_t phase(int rank, std::size_t slot) const;

  Table input(int rank) const;                         // data movement: the same for every rank
  const Table& expected() const { return expected_; }  // data movement: the input itself
  // Writes elements [first, first + out.size() / width()) of a block of terms.
  void sum(const ExpectedBlock& block, std::size_t first, std::size_t slot,
           std::span<std::byte> out) const;

 private:
  Table make_table(int rank_or_expected) const;

  Inputs inputs_;
  std::vector<std::uint16_t> order_;  // phases in the order in which they are given out
  Table expected_;
  std::vector<double> values_;  // of a period of whole-number inputs
};

// Shared by the ranks of a process. Thread-safe.
class PatternCache {
 public:
  std::shared_ptr<const Pattern> find(DataType type, std::optional<ReduceOp> op, int ranks,
                                      std::uint64_t seed, bool integers_wrap = true,
                                      std::uint64_t largest = 0, DataChoice data = {});

 private:
  using Key = std::tuple<DataType, std::optional<ReduceOp>, int, std::uint64_t, bool, std::uint64_t,
                         DataKind, std::size_t>;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<const Pattern>> patterns_;
};

}  // namespace ccl_tests::verify
