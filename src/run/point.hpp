// The rows that a run makes, as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "src/core/collective.hpp"
#include "src/options/options.hpp"
#include "src/run/slots.hpp"

namespace ccl_tests {

// What a row does: a type, and an operation if the collective reduces.
using Kind = std::pair<DataType, std::optional<ReduceOp>>;

// One row, or one of each group that runs at the same time.
struct SweepPoint {
  DataType type = DataType::float32;
  std::optional<ReduceOp> op;
  int root = 0;
  std::size_t bytes = 0;               // as asked for
  const RankGroups* groups = nullptr;  // that run at the same time: process groups, or pairs
  int cycle = 0;                       // of -N
};

// What a sweep is made of beside the options.
struct SweepRange {
  std::vector<DataType> types;
  std::vector<std::size_t> sizes;  // that fit into memory
  SlotRule slots;                  // of their rows
  std::vector<RankGroups>
      groups;  // run one after the other for each size: process groups, or rounds of pairs
  std::set<Kind> skipped;  // that the library does not have on every rank
};

// Returns the kinds of rows that the options ask for.
std::vector<Kind> kinds_of(const Collective& collective, const Options& options);

// Returns the numbers of the points in the order in which pass `pass` (from 1) of `passes` takes them:
// shuffled by `seed`, the same on all ranks, and in the last pass as they are.
std::vector<std::size_t> order_of_pass(std::size_t points, int pass, int passes,
                                       std::uint64_t seed);
// Returns the first of the smallest and the first of the largest of the points that are of the first
// one's kind, root and groups; none if they have one size. `all` must not be empty.
std::vector<SweepPoint> ends_of(const std::vector<SweepPoint>& all);

// Returns the points of one cycle in their order. They point into `range`.
std::vector<SweepPoint> points(const Collective& collective, const Options& options,
                               const SweepRange& range);

}  // namespace ccl_tests
