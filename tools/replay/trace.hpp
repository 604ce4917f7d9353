// What one rank's trace tells of its communication, whatever wrote it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/call.hpp"
#include "tools/replay/trace_file.hpp"

namespace ccl_tests::replay {

inline constexpr double not_known_s = std::numeric_limits<double>::quiet_NaN();

// A job has no more ranks: what a file says is not trusted.
inline constexpr std::size_t most_ranks = 1 << 20;
// A call has no larger buffer: a rank has less memory, and agreement.cpp compares counts of 40 bits.
inline constexpr std::size_t most_bytes = (std::size_t{1} << 40) - 1;
// The numbers of a group's calls are below it: agreement.cpp puts their places into the other bits.
inline constexpr std::uint64_t most_numbers = std::uint64_t{1} << 44;
// No call lasts longer, and no clock shows more.
inline constexpr double most_seconds = 1e12;

// An error about what no trace of a job says. Readers name the file and the record.
class ImpossibleRecord : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// Return what is at most most_bytes. Throw ImpossibleRecord if it is more.
std::size_t bounded_sum(std::size_t one, std::size_t other);
std::size_t bounded_product(std::size_t one, std::size_t other);
// Returns a rank or a number of ranks. Throws ImpossibleRecord if no job has so many.
int bounded_rank(std::uint64_t rank);

// A type as traces name it: `elements` of a type of the suite. moved_only: the suite cannot reduce such values.
struct TracedType {
  DataType type = DataType::uint8;
  std::size_t elements = 1;
  bool moved_only = false;
  auto operator<=>(const TracedType&) const =
      default;  // NOLINT(modernize-use-nullptr): of clang-tidy 14
};

// Returns the type that PyTorch calls "Float", "c10::BFloat16", "Tensor(long int)" and the like.
std::optional<TracedType> parse_traced_type(std::string_view name);

// An operation as traces name it. sends: of a message.
struct TracedOperation {
  OperationId operation = OperationId::barrier;
  bool sends = false;
};

// Returns the operation that is called "nccl:_all_gather_base", "c10d::allreduce_", "AllReduce" and the like.
std::optional<TracedOperation> parse_traced_operation(std::string_view name);
// Returns true for a name of what moves no data and has no partner: "wait", "coalesced".
bool is_mark(std::string_view name);

// A call without the time at which it was made. Elements are of `type`. Of alltoall the splits may be empty: equal blocks.
// root, peer: ranks in the group.
struct CallKind {
  OperationId operation = OperationId::barrier;
  bool sends = false;
  std::uint32_t group = 0;  // in RankTrace::groups
  TracedType type;
  ReduceOp op = ReduceOp::sum;
  std::size_t in = 0, out = 0;
  int root = 0, peer = -1;
  std::vector<std::size_t> in_splits = {}, out_splits = {};
  auto operator<=>(const CallKind&) const =
      default;  // NOLINT(modernize-use-nullptr): of clang-tidy 14
};

inline constexpr std::uint64_t not_numbered = std::numeric_limits<std::uint64_t>::max();

struct TracedCall {
  std::uint64_t sequence = not_numbered;  // in the group, as the trace counts
  double start_s = not_known_s;           // of any clock
  float duration_s = static_cast<float>(not_known_s);
  std::uint32_t kind = 0;  // in RankTrace::kinds
};

// A group of ranks. The trace may know all members in the order of their group ranks, or the group's size and this rank's
// place, or nothing but the name.
struct TracedGroup {
  std::string name;
  std::string about = {};         // what the job calls it; may be empty
  std::vector<int> members = {};  // ranks of the job; empty: not known
  int size = -1;                  // below 0: not known
  int rank = -1;                  // of this file's rank; below 0: not known
};

// A reason, and how many records it is the reason for.
using Reasons = std::map<std::string, std::uint64_t>;

struct RankTrace {
  std::string format;  // "execution trace"
  std::vector<TracedGroup> groups;
  std::vector<CallKind> kinds;
  std::deque<TracedCall> calls;   // in the order in which they were made
  std::uint64_t records = 0;      // of the file, communication or not
  Reasons dropped;                // calls that cannot be replayed
  Reasons marks;                  // records about communication that are no call
  std::set<std::string> assumed;  // what the format does not say
  bool sampled = false;           // the writer leaves calls out
};

// A call as a reader finds it. group: its name.
struct FoundCall : CallKind {
  std::string group_name;
  std::optional<std::uint64_t> sequence = {};
  double start_s = not_known_s, duration_s = not_known_s;
};

// Throw ImpossibleRecord if no job has such a group, or makes such a call.
void require_possible(const TracedGroup& group);
void require_possible(const FoundCall& call);

// Collects what a reader finds, in bounded memory.
class TraceBuilder {
 public:
  // most_calls: that are kept; the others are dropped.
  explicit TraceBuilder(std::string format, std::size_t most_calls) : most_calls_(most_calls) {
    trace_.format = std::move(format);
  }

  // Throws ImpossibleRecord.
  void add(const FoundCall& call);
  void drop(const std::string& why) { ++trace_.dropped[why]; }
  void mark(const std::string& what) { ++trace_.marks[what]; }
  void assume(const std::string& what) { trace_.assumed.insert(what); }
  void record() { ++trace_.records; }
  void set_sampled() { trace_.sampled = true; }
  // Says what is known of a group. It may be known before or after its calls. Throws
  // ImpossibleRecord.
  void describe(const TracedGroup& group);
  // The same for the words that its calls have for it.
  void describe(const std::string& name, const std::string& about) {
    trace_.groups[group_index(name)].about = about;
  }
  std::size_t calls() const { return trace_.calls.size(); }
  RankTrace finish() { return std::move(trace_); }

 private:
  std::uint32_t group_index(const std::string& name);

  std::size_t most_calls_, splits_ = 0;
  RankTrace trace_;
  std::map<std::string, std::uint32_t> group_indices_;
  std::map<CallKind, std::uint32_t> kind_indices_;
};

// Returns the calls of a trace that PyTorch or NCCL left. The memory depends on most_calls, not on
// the file. Throws Error that names the file and why it cannot be read; names the tool that
// converts it if there is one.
RankTrace read_trace(const TracePlace& place, std::size_t most_calls);
// Returns the traces in a file: those in an archive, of the processes of a log, or the file. Throws
// Error.
std::vector<TracePlace> traces_in(const std::string& file);

// The readers of read_trace(). Each throws Error.
RankTrace read_json_trace(const TracePlace& place, std::size_t most_calls);
RankTrace read_inspector(const TracePlace& place, std::size_t most_calls);
RankTrace read_nccl_log(const TracePlace& place, std::size_t most_calls);
// Returns the processes and devices of a log of NCCL in the order in which they appear.
std::vector<TracePlace> processes_of(const TracePlace& log);

}  // namespace ccl_tests::replay
