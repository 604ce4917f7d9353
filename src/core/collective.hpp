// A collective as data: everything that the harness needs to know about one program.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/call.hpp"
#include "src/core/control_channel.hpp"
#include "src/core/operation.hpp"
#include "src/core/routing.hpp"
#include "src/core/types.hpp"

namespace ccl_tests {

class Communicator;

// The division of a size over the ranks (--skew): evenly, growing with the rank, or nearly all to
// one.
enum class Skew { equal, linear, one_large };
constexpr std::string_view name(Skew skew) {
  constexpr std::array<std::string_view, 3> names = {"equal", "linear", "one-large"};
  return names[static_cast<std::size_t>(skew)];
}

// The values of the options that change what a collective means. Options that change how a
// collective is run or measured are elsewhere.
struct CollectiveOptions {
  // NCCL_TESTS_ALLTOALLV_SPREAD: 0 (equal blocks) to 1 (blocks grow with the distance).
  double alltoallv_spread = 1.0;
  // NCCL_TESTS_ALLTOALLV_MATRIX_FILE times _SCALE: bytes by [sender][receiver].
  std::vector<std::vector<std::size_t>> alltoallv_bytes;
  bool alltoallv_summary = false;  // NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY
  Skew skew = Skew::equal;         // --skew
  std::size_t objects = 8;         // --objects: of one list, keys of a dictionary
  std::string tensors_name = "uniform:16";
  std::vector<std::size_t> tensors = std::vector<std::size_t>(16, 1);  // --tensors: their elements
  double bucket_mib = 25;        // --bucket-mb; 0: one operation per tensor; below: no limit
  bool async_operations = true;  // --no-async clears it
  bool via_files = false;        // --via cpu
  std::string shared_dir = ".";  // --shared-dir
  std::size_t window = 1;        // --window: messages in flight before the peer answers
  bool bidirectional = false;    // --bidirectional: both ranks of a pair send at the same time
  RoutingOptions routing = {};   // --hidden, --top-k, --experts, --routing, --routing-seed
};

// All that a spec may depend on.
struct Shape {
  std::size_t count;  // elements that the requested size gives, before any division over ranks
  std::size_t type_bytes;
  GroupRank self;  // of the rank whose call it is
  const CollectiveOptions& options;
  int root = 0;  // of rooted collectives
};

// The in-place form of a call: its buffers lie in one buffer, at these element offsets.
struct InPlace {
  std::size_t send, recv;
};

// Counts of a vector collective, in elements, one entry per rank. See Call.
struct Counts {
  std::vector<std::size_t> send_counts = {}, send_offsets = {};
  std::vector<std::size_t> recv_counts = {}, recv_offsets = {};
};

// One rank's call, in elements.
struct Layout {
  std::size_t send = 0;         // elements this rank's call reads
  std::size_t recv = 0;         // elements this rank's call is entitled to write
  std::size_t count = 0;        // Call::count
  std::size_t table_count = 0;  // the table's "count" column
  std::size_t algbw_bytes = 0;  // what algbw divides by the time; the same on every rank
  std::optional<InPlace> in_place = {};
  // A call may be many messages. The size and the time of its row are those of one message, on its
  // way from one rank to the other.
  std::size_t messages = 1;           // in one direction, equally long
  std::size_t legs = 1;               // one after the other: there and back are two
  std::optional<Counts> counts = {};  // of vector collectives
};

// Returns a call of this layout, without buffers. The layout outlives the call.
inline Call call_of(const Shape& shape, const Layout& layout, DataType type, ReduceOp op) {
  Call call{.count = layout.count,
            .type = type,
            .op = op,
            .self = shape.self,
            .root = shape.root,
            .messages = layout.messages,
            .legs = layout.legs};
  if (layout.counts) {
    call.send_counts = layout.counts->send_counts;
    call.send_offsets = layout.counts->send_offsets;
    call.recv_counts = layout.counts->recv_counts;
    call.recv_offsets = layout.counts->recv_offsets;
  }
  return call;
}

// States what a part of the receive buffer holds after the call: elements [recv_offset, recv_offset
// + count) equal rank source_rank's input at [source_offset, source_offset + count), or the
// reduction over all ranks of their inputs there. The block occurs `repeat` times: occurrence k
// adds k * recv_stride and k * source_stride. All in elements. With terms, the block is instead the
// sum of several ranks' inputs, each `count` elements from `offset` on times a whole weight; it then
// occurs once, and the collective says what whole numbers its inputs are (Collective::largest_input).
struct ExpectedBlock {
  struct Term {
    int rank = 0;
    std::size_t offset = 0;
    int weight = 1;
  };
  static constexpr int all_ranks = -1;
  std::size_t recv_offset = 0, count = 0;
  int source_rank = all_ranks;
  std::size_t source_offset = 0;
  std::size_t repeat = 1, recv_stride = 0, source_stride = 0;
  std::vector<Term> terms = {};
};

// The rows that a collective has.
struct Domain {
  bool sweeps = true;    // false for a program that has no sizes, types and rows
  bool reduces = false;  // sweeps --op
  bool rooted = false;   // sweeps --root
  bool paired = false;   // runs on pairs of ranks, sweeps --pairs; GroupRank is within the pair
  // The operations and types that are defined, the default first. Empty if all are defined.
  std::span<const ReduceOp> ops = {};
  std::span<const DataType> types = {};
  // Bytes of every call, whatever size is requested: there is one row.
  std::optional<std::size_t> fixed_bytes = {};
  int peers = 0;  // ranks that one rank changes messages with at most; 0: any number
};

// Tells which options a program takes from its command line or environment. See CollectiveOptions.
struct CollectiveFlags {
  bool skew = false;              // --skew
  bool objects = false;           // --objects
  bool tensors = false;           // --tensors
  bool buckets = false;           // --bucket-mb
  bool async_operations = false;  // --no-async
  bool via = false;               // --via, --shared-dir
  bool block_matrix = false;      // NCCL_TESTS_ALLTOALLV_*
  bool routing = false;  // --hidden, --top-k, --experts, --routing, --routing-seed, --tokens
};

// The needs of an operation that the harness has to respect.
struct Needs {
  // The operation moves no data. It is checked by time: no rank leaves before the last one enters.
  bool synchronizes = false;
  bool in_steps = false;     // Parts of a call need the part before. Calls cannot be aggregated.
  bool host_memory = false;  // Buffers must lie in host memory.
  bool host_waits = false;   // A call waits on the host. A graph cannot hold such a call.
  bool own_buffers = false;  // The library gets the operation's buffers, not the row's.
  bool agreement = false;    // Operation::check() compares the ranks' arguments.
  bool step_times = false;   // Operation::times() tells how long the steps of a call take.
  // The library's operations that a call makes. Empty: the one that the collective is named as.
  OperationSet operations = {};
};

// One collective in one form. All functions but `make` are pure.
struct Collective {
  // The name, and the rows that there are.
  std::string_view name;        // of the program, without _perf
  std::string_view about = {};  // what it does in one line, below 80 characters
  std::string_view mode = {};   // --mode's name of this form; empty if there is one form only
  std::span<const Collective* const> modes = {};  // the program's other forms
  Domain domain = {};
  CollectiveFlags flags = {};
  // Returns why this shape cannot be run, or nullopt if it can.
  std::optional<std::string> (*unsupported)(const Shape&) = nullptr;

  // The buffers of a call, and what is right in them. Elements that no block names are unspecified.
  Layout (*layout)(const Shape&) = nullptr;
  std::vector<ExpectedBlock> (*expected)(const Shape&) = nullptr;
  // Inputs are whole numbers from -M to M without 0, M being what this returns, so that sums of
  // terms are exact. Null: any bits.
  std::uint64_t (*largest_input)(const Shape&, DataType) = nullptr;
  // Returns what an element of the receive buffer belongs to, as "token 7 of rank 2, expert 5".
  std::string (*place)(const Shape&, std::size_t element) = nullptr;

  // The factors of the report.
  double (*bus_factor)(const Shape&) = nullptr;  // busbw / algbw
  // Returns the bytes sent for each byte of data if shorter objects are padded to the longest.
  double (*padding_waste)(const Shape&) = nullptr;
  // Returns the load of experts and ranks.
  RoutingLoad (*load)(const Shape&) = nullptr;

  // The memory that it takes. `largest` returns the elements of the largest buffer of any rank;
  // only needed if neither the root nor the first nor the last rank has it. `scratch` returns the
  // bytes that one rank's call takes beside its buffers.
  std::size_t (*largest)(const Shape&) = nullptr;
  std::size_t (*scratch)(const Shape&) = nullptr;

  // The operation itself. `make` returns one rank's end of the operation for calls of this shape.
  // Collective over the channel's ranks, which are the communicator's. Channel, communicator and
  // the shape's options outlive the operation.
  std::unique_ptr<Operation> (*make)(ControlChannel&, Communicator&, const Shape&,
                                     DataType) = nullptr;
  Needs needs = {};
};

// Returns the library's operations that a call of the collective makes.
inline OperationSet operations_of(const Collective& collective) {
  const auto operation = parse_operation(collective.name);
  return collective.needs.operations.empty() && operation ? OperationSet{*operation}
                                                          : collective.needs.operations;
}

}  // namespace ccl_tests
