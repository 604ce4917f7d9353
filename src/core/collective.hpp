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

#include "src/core/communicator.hpp"
#include "src/core/composite.hpp"
#include "src/core/control_channel.hpp"
#include "src/core/types.hpp"

namespace ccl_tests {

// How a size is divided over the ranks (--skew): evenly, growing with the rank, or nearly all to
// one.
enum class Skew { equal, linear, one_large };
inline constexpr std::array<std::string_view, 3> skew_names = {"equal", "linear", "one-large"};

// What the user can set that changes what a collective means (not how it is run or measured).
struct CollectiveOptions {
  double alltoallv_spread =
      1.0;  // NCCL_TESTS_ALLTOALLV_SPREAD, 0 (equal blocks) .. 1 (blocks grow with the distance)
  std::vector<std::vector<std::size_t>>
      alltoallv_bytes;             // NCCL_TESTS_ALLTOALLV_MATRIX_FILE x _SCALE; [from][to]
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
};

// All that a spec may depend on. count: elements that the requested size gives, before any division
// over ranks.
struct Shape {
  std::size_t count;
  std::size_t type_bytes;
  GroupRank self;  // of the rank whose call it is
  const CollectiveOptions& options;
  int root = 0;  // of rooted collectives
};

// The in-place form: the call's buffers lie in one buffer, at these element offsets.
struct InPlace {
  std::size_t send, recv;
};

// One rank's call, in elements.
struct Layout {
  std::size_t send = 0;         // elements this rank's call reads
  std::size_t recv = 0;         // elements this rank's call is entitled to write
  std::size_t count = 0;        // Call::count
  std::size_t table_count = 0;  // the table's "count" column
  std::size_t algbw_bytes = 0;  // what algbw divides by the time; the same on every rank
  std::optional<InPlace> in_place;
  // A call may be many messages. The row's size and time are those of one, on its way from one rank
  // to the other.
  std::size_t messages = 1;  // in one direction, equally long
  std::size_t legs = 1;      // one after the other: there and back are two
};

// States what a part of the receive buffer holds after the call: elements [recv_offset, recv_offset +
// count) equal rank source_rank's input at [source_offset, source_offset + count), or the reduction
// over all ranks of their inputs there. The block occurs `repeat` times: occurrence k adds k *
// recv_stride and k * source_stride. All in elements.
struct ExpectedBlock {
  static constexpr int all_ranks = -1;
  std::size_t recv_offset = 0, count = 0;
  int source_rank = all_ranks;
  std::size_t source_offset = 0;
  std::size_t repeat = 1, recv_stride = 0, source_stride = 0;
};

// Counts of a vector collective, in elements, one entry per rank.
struct Counts {
  std::vector<std::size_t> send_counts, send_offsets, recv_counts, recv_offsets;
};

// Which settings of CollectiveOptions a program takes from its command line.
struct Takes {
  bool skew = false;              // --skew
  bool objects = false;           // --objects
  bool tensors = false;           // --tensors
  bool buckets = false;           // --bucket-mb
  bool async_operations = false;  // --no-async
  bool via = false;               // --via, --shared-dir
};

struct Collective {
  std::string_view name;  // program name without _perf
  bool sweeps = true;     // sizes, types and rows are this program's
  bool reduces = false;   // sweeps --op
  bool rooted = false;    // sweeps --root
  bool splits = false;    // the size is divided over the ranks, each part rounded down to 16 bytes
  bool synchronizes =
      false;  // moves no data: verified by time (nobody leaves before the last has entered)
  std::optional<std::string> (*unsupported)(const Shape&) =
      nullptr;  // why this shape cannot be run
  Layout (*layout)(const Shape&) = nullptr;
  std::vector<ExpectedBlock> (*expected)(const Shape&) =
      nullptr;                                   // elements that no segment names are unspecified
  double (*bus_factor)(const Shape&) = nullptr;  // busbw / algbw
  Counts (*counts)(const Shape&) = nullptr;      // only vector collectives
  // Of all ranks the root, the first or the last has the largest buffer, unless this tells its
  // elements.
  std::size_t (*largest)(const Shape&) = nullptr;
  void (*run)(Communicator&, const Call&) = nullptr;
  std::string_view mode = {};  // --mode's name of this form; empty: the program has one form only
  std::span<const Collective* const> modes = {};  // the program's other forms
  bool paired = false;  // runs on pairs of ranks, sweeps --pairs: GroupRank is that within the pair
  Takes takes = {};
  // Where not everything is defined: the operations and types that are, the first by default.
  std::span<const ReduceOp> ops = {};
  std::span<const DataType> types = {};
  // Bytes of every call, whatever the size that is asked for: one row.
  std::optional<std::size_t> fixed_bytes = {};
  // A composite is run instead of `run`. Collective over the channel's ranks, which are the
  // communicator's; both outlive it.
  std::unique_ptr<Composite> (*compose)(ControlChannel&, Communicator&, const Shape&,
                                        DataType) = nullptr;
  // Bytes on the wire for each byte of data, where shorter objects are padded to the longest.
  double (*padding_waste)(const Shape&) = nullptr;
  // A call is several operations, each of which needs the one before.
  bool in_steps = false;
  // Its calls work on buffers in host memory only; so do those of every composite.
  bool host_memory = false;
  // Bytes that one rank's call takes beside its buffers.
  std::size_t (*scratch)(const Shape&) = nullptr;
};

}  // namespace ccl_tests
