// What the ranks of a job call, from all ranks' traces: groups, calls, and whether the traces fit together. Pure.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/core/call.hpp"
#include "tools/replay/trace.hpp"

namespace ccl_tests::replay {

// A group of the job that replays.
struct JobGroup {
  std::string name;
  std::string about = {};         // what the traced job calls it; may be empty
  std::vector<int> members = {};  // ranks of the job, by group rank
  std::vector<int> was = {};      // the group rank that each member had in the traces
  int traced_ranks = 0;           // that the group had there
  std::string unusable = {};      // why its calls cannot be replayed; empty: they can

  int ranks() const { return static_cast<int>(members.size()); }
  // Returns the group rank of a rank of the job. Returns -1 if it is no member.
  int rank_of(int job_rank) const;
  // Returns the group rank here of the member that had `traced_rank`. Returns -1 if it is not here.
  int rank_that_was(int traced_rank) const;
  std::string text() const;  // "group '1' tp (ranks 0-3)"
};

// The groups of a job, and which of them each group of each rank's trace is.
struct JobGroups {
  std::vector<JobGroup> groups;
  std::vector<std::vector<std::size_t>> of_rank;  // by rank and RankTrace::groups
  int traced_ranks = 0;                           // of the job that was traced, as far as known
};

// Returns the groups of a job whose rank r replays a trace with the groups traces[r]. Throws Error
// if the traces disagree about who is in a group.
JobGroups job_groups(const std::vector<std::vector<TracedGroup>>& traces);

// One operation as a rank calls it here. Counts are as in Call. root, peer: group ranks.
struct PlannedKind {
  OperationId operation = OperationId::barrier;
  bool sends = false;
  std::size_t group = 0;  // in JobGroups::groups
  GroupRank self = {};    // this rank in it
  DataType type = DataType::uint8;
  ReduceOp op = ReduceOp::sum;
  std::size_t count = 0;
  int root = 0, peer = -1;
  std::vector<std::size_t> send_counts = {}, send_offsets = {}, recv_counts = {}, recv_offsets = {};
  std::string lost = {};  // why such calls cannot be replayed; empty: they can

  bool is_message() const { return operation == OperationId::transfer; }
  bool reduces() const { return reducing_operations.has(operation); }
  // Returns the call, without buffers. The kind outlives it.
  Call call() const;
  std::size_t bytes() const;  // of the larger buffer
  // Makes it a call that moves the same bytes as elements of uint8. Not for reductions.
  void as_bytes();
};

struct PlannedCall {
  std::uint32_t kind = 0;
  std::uint64_t sequence = 0;  // StreamCall::sequence
  std::uint32_t number = 0;    // of the call in its stream, of those that are replayed
  double start_s = not_known_s;
  float duration_s = static_cast<float>(not_known_s);
};

// What one rank replays.
struct RankPlan {
  std::vector<PlannedKind> kinds;
  std::vector<PlannedCall> calls;
  Reasons dropped;   // calls that are lost
  Reasons left_out;  // calls that other ranks of the group did not record
  bool sampled = false;
};

// Translates a rank's trace to the job's groups: roots, peers and sizes are those of the members that are here.
RankPlan plan(const RankTrace& trace, const JobGroups& groups, int rank);

// Moves calls so that none begins more than longest_s after the one before. Returns true if one did. All have times.
bool shorten_gaps(RankPlan& plan, double longest_s);

// The calls that several ranks make together: the collectives of a group, the messages from one of its ranks to another as
// seen by one end, or the parts of alltoallv that go from one rank to another.
struct StreamKey {
  enum class What { collectives, sent, received, part_sent, part_received };
  std::size_t group = 0;
  What what = What::collectives;
  int from = -1, to = -1;  // group ranks
  auto operator<=>(const StreamKey&) const =
      default;  // NOLINT(modernize-use-nullptr): of clang-tidy 14
};
struct StreamCall {
  std::uint64_t sequence =
      0;  // as the trace counts or counted, and the place among calls of one number
  std::uint64_t signature = 0;  // what it is; 0: cannot be replayed
  auto operator<=>(const StreamCall&) const =
      default;  // NOLINT(modernize-use-nullptr): of clang-tidy 14
};
using Streams = std::map<StreamKey, std::vector<StreamCall>>;

// Returns the streams of a rank's calls in the order in which it makes them, and sets their sequences.
Streams streams(RankPlan& plan);

// Calls that are not to be replayed, and why. lost: they cannot be replayed on some rank.
struct Exclusion {
  std::string why;
  bool lost = false;
};
struct Agreement {
  std::string
      disagreement;  // the first call that ranks do not share: rank, group, sequence; empty: none
  std::map<StreamKey, std::map<std::uint64_t, Exclusion>> excluded;
};

// Compares all ranks' streams. sampled: the traces leave calls out.
Agreement agree(const std::vector<Streams>& ranks, const std::vector<JobGroup>& groups,
                bool sampled);

// Takes what is excluded out of a plan, and numbers the rest.
void apply(RankPlan& plan, const Agreement& agreement);

}  // namespace ccl_tests::replay
