// What a run produces, as data: the header, one row per (size, type, op, root), the summary.
// Reporters format these and compute nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/core/operation.hpp"
#include "src/core/rank_pair.hpp"
#include "src/measure/iterations.hpp"

namespace ccl_tests {

struct RankLine {
  int rank = 0;
  int group = 0;
  long pid = 0;
  std::string host;
  int device = 0;           // rank within its host
  std::string device_name;  // of the GPU; CPU model
  std::string bus_id = {};  // of the GPU, "0000:0f:00"; empty: the CPU
};

struct RunInfo {
  std::string program;                                           // "all_reduce_perf"
  std::string version;                                           // of the suite, "0.1.0"
  std::string backend;                                           // "gloo"
  std::string library_version;                                   // of the library under test
  std::string library_file;                                      // empty: built in
  std::vector<std::string> arguments;                            // argv as given
  std::vector<std::pair<std::string, std::string>> environment;  // only listed variables
  std::string launcher;
  int threads = 1, ranks_per_thread = 1, processes = 1, ranks = 1;
  std::size_t min_bytes = 0, max_bytes = 0;
  std::size_t step_bytes = 0;  // used when step_factor is 1
  int step_factor = 2;
  std::vector<std::size_t> sizes;  // --sizes; empty: from the range
  int warmup = 1, iterations = 20, aggregate = 1, check = 1, average = 1, blocking = 0, cycles = 1;
  std::size_t unalign = 0;
  bool parallel_init = false;
  int graph_launches = 0;      // -G
  bool per_iteration = false;  // -I
  int per_iteration_skip = 0;  // -K
  bool cpu_time = false;       // -C
  bool timestamps = false;     // -S
  bool group_rows = false;     // --group-rows
  bool pair_rows = false;      // rows of more than one pair
  std::string mode;            // what distinguishes this run from others of its program
  std::uint64_t seed = 0;
  std::string cpus_allowed;                // the inherited affinity mask, "0-1"
  std::vector<std::string> notes;          // header comment lines, without "# "
  std::optional<std::size_t> reduced_max;  // -e lowered to this because of memory
  std::vector<RankLine> rank_lines;
  std::string start_time;  // "2026-11-20 22:33:44"
};

// -I: seconds per operation of each iteration, over ranks their largest, and their statistics.
struct IterationTimes {
  int skipped = 0;  // first iterations that are in none of the statistics (-K)
  std::vector<double> seconds;
  Statistics of = {};
};

// One half of a row. wrong: elements that differ, summed over ranks and checks; empty: not checked
// (N/A).
struct Measurement {
  double seconds = 0;      // per operation, by -a over ranks; CPU time with -C
  double min_seconds = 0;  // over ranks, wall
  double max_seconds = 0;
  double algbw = 0, busbw = 0;           // GB/s (1e9), from wall time
  std::optional<double> messages_per_s;  // of a pair, in one direction
  std::optional<std::uint64_t> wrong;
  std::uint64_t failed_ranks = 0;     // ranks with any wrong element
  int iterations = 0;                 // timed operations / aggregate, after --row-time's cap
  std::uint64_t calls = 0;            // of rank 0, timed and checked
  std::uint64_t verified_calls = 0;   // whose result was compared
  bool repeats_out_of_place = false;  // the collective has no in-place form
  std::optional<StepTimes> steps;     // of a composite: seconds per operation, mean over ranks
  std::optional<IterationTimes> per_iteration;  // -I
};

struct Row {
  std::size_t bytes = 0;  // "size"
  std::size_t count = 0;  // "count"
  std::string type, op;   // op: "none" where nothing is reduced
  int root = -1;
  Measurement out_of_place, in_place;
  double bus_factor = 0;
  bool emulated = false;
  double coverage = 1;           // share of ranks whose missing contribution this row would show
  int cycle = 0;                 // -N
  std::optional<int> group;      // --group-rows
  std::optional<RankPair> pair;  // where the program runs on pairs
  std::string algorithm;         // that the library says it chose (--show-algorithm)
  std::optional<double> padding_waste;  // bytes on the wire for each byte of data
  std::string timestamp;
};

struct RunSummary {
  std::uint64_t failed_checks =
      0;  // row halves x ranks with any wrong element: nccl-tests' "Out of bounds values"
  double average_busbw = 0;          // arithmetic mean over all cells
  std::optional<bool> bandwidth_ok;  // NCCL_TESTS_MIN_BW; empty: not asked
  std::uint64_t calls = 0, verified_calls = 0;
  std::string memory;  // -M: nccl-tests' line
  std::vector<std::string>
      notes;  // footer comment lines: capped iterations, coverage, limits missed
  std::vector<std::string> errors;  // why the run failed; empty: it did not
  bool complete = true;             // false: interrupted or failed before the last row
  int exit_code = 0;
  std::string end_time;
};

}  // namespace ccl_tests
