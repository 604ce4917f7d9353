// The times of one invocation of a program, by row.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "src/core/rank_pair.hpp"
#include "src/core/types.hpp"
#include "src/report/read.hpp"
#include "tools/compare/sign_test.hpp"

namespace ccl_tests::compare {

// What tells the rows of a run apart. Rows of two runs with equal keys are compared.
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

// Returns the placement with what else the table has no column for: "in_place,root=2,pair=0:1".
std::string where_text(const RowKey& key);
// Returns the row in words: "1024 B float sum out_of_place,root=2".
std::string row_text(const RowKey& key);

struct RowTime {
  double seconds = 0;
  std::optional<Interval> interval;  // of the time, as the run printed it
};

// One invocation's rows in the order of their keys.
using RunTimes = std::map<RowKey, RowTime>;

// Returns the run's times. Leaves out rows without a time, and in-place rows that repeat the
// out-of-place ones. If a run repeats a row (-N), the row's time is the median and has no interval. Of
// --passes it is that of the row which stands for them, or if the run had no time for that, the same.
RunTimes times_of(const RecordedRun& run);

}  // namespace ccl_tests::compare
