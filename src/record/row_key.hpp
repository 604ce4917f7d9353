// What tells the times of a run apart.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>

#include "src/core/rank_pair.hpp"
#include "src/core/types.hpp"
#include "src/record/record.hpp"

namespace ccl_tests {

// Times of two runs with equal keys are compared.
struct RowKey {
  std::size_t bytes = 0;
  DataType type = DataType::float32;
  std::optional<ReduceOp> op;
  std::optional<int> root, group;
  std::optional<RankPair> pair;
  bool in_place = false;

  // By size, type, operation, and so on.
  bool operator<(const RowKey& other) const {
    const auto parts = [](const RowKey& key) {
      return std::tie(key.bytes, key.type, key.op, key.root, key.group, key.pair, key.in_place);
    };
    return parts(*this) < parts(other);
  }
};

// Returns the key of one of the row's two times.
inline RowKey key_of(const Row& row, bool in_place) {
  return {row.bytes, row.type, row.op, row.root, row.group, row.pair, in_place};
}

}  // namespace ccl_tests
