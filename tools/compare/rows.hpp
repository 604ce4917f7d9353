// The times of one invocation of a program, by row.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "src/judge/limits.hpp"
#include "src/record/read.hpp"
#include "src/record/row_key.hpp"
#include "tools/compare/sign_test.hpp"

namespace ccl_tests::compare {

// Returns the placement with what else the table has no column for: "in_place,root=2,pair=0:1".
std::string where_text(const RowKey& key);
// Returns the row in words: "1024 B float sum out_of_place,root=2".
std::string row_text(const RowKey& key);

struct RowTime {
  double seconds = 0;
  std::optional<Interval> interval;  // of the time, as the run printed it; none of a percentile
};

// One invocation's rows in the order of their keys.
using RunTimes = std::map<RowKey, RowTime>;

// Of runs that are compared by JudgedBy::fast.
inline constexpr std::string_view fast_note =
    "more busy threads than CPUs, so medians are noise: rows compare the 10th percentile of the calls; rows that have only a mean compare it";

// Returns the run's times. Leaves out rows without a time, and in-place rows that repeat the
// out-of-place ones. If a run repeats a row (-N), the row's time is the median and has no interval. Of
// --passes it is that of the row which stands for them, or if the run had no time for that, the same.
RunTimes times_of(const RecordedRun& run, JudgedBy by);

}  // namespace ccl_tests::compare
