// What ccl_replay prints.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/replay/plan.hpp"

namespace ccl_tests::replay {

// The calls that are one line of the table. bytes: of the larger buffer of any rank; alltoallv: 0, since calls differ.
struct RowKey {
  OperationId operation = OperationId::barrier;
  int ranks = 1;  // of the group
  std::size_t bytes = 0;
  DataType type = DataType::uint8;
  ReduceOp op = ReduceOp::sum;
  auto operator<=>(const RowKey&) const =
      default;  // NOLINT(modernize-use-nullptr): of clang-tidy 14
};
RowKey row_key(const PlannedKind& kind);

// Sums over the calls of some ranks.
struct RowSums {
  double calls = 0;  // each rank adds its share of a call, so that a call of all ranks counts once
  double bytes = 0;  // of alltoallv: of the larger buffer, summed over ends
  std::uint64_t ends = 0;        // calls of one rank
  std::uint64_t timed_ends = 0;  // of them, those whose time the trace knows
  double traced_s = 0, replayed_s = 0;
};
using Rows = std::map<RowKey, RowSums>;

// One rank's part of a replay, or all ranks' together.
struct Outcome {
  Rows rows;
  std::uint64_t records = 0;  // of the files
  Reasons marks, dropped, left_out;
  std::set<std::string> assumed, moved_as_bytes;
  std::set<std::string> formats;
  std::uint64_t verified = 0, unverified = 0, wrong = 0;  // calls of one rank before the timed ones
  std::uint64_t timed = 0;                                // that the next call may write over
  std::string first_wrong;                                // "rank 2: all_reduce ..."
  std::string spoiled;                                    // Rank::spoiled_text() with --inject
  double pass_s = 0;   // of the slowest rank, mean of the passes; 0: nothing was replayed
  double trace_s = 0;  // from the first to the last call's beginning, if the trace has times

  void add(const Outcome& other);
};
// Adds what a rank's trace and plan say.
void count(Outcome& outcome, const RankTrace& trace, const RankPlan& plan);

std::string to_text(const Outcome& outcome);
Outcome outcome_of(std::string_view text);  // throws Error

// Returns the lines about the groups and what fewer ranks change. ranks: of the job.
std::string header_text(const JobGroups& groups, int ranks, int traced_ranks);
// Returns the table, what was dropped, left out and assumed, and the verdict. listed: nothing was replayed.
std::string text_of(const Outcome& outcome, bool listed);
// 7, 8 or 0.
int exit_code_of(const Outcome& outcome);

}  // namespace ccl_tests::replay
