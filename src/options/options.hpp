// The command line, as data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/backend.hpp"
#include "src/core/collective.hpp"
#include "src/core/types.hpp"
#include "src/options/pairing.hpp"
#include "src/options/rank_groups.hpp"

namespace ccl_tests {

// --min-busbw SIZE:GB/s or --max-time SIZE:us.
struct SizeLimit {
  std::size_t bytes;
  double value;
};

struct Options {
  std::optional<int> threads, ranks_per_thread;  // -t, -g
  int local_processes = 0;                       // --np; 0: not asked for
  std::size_t min_bytes = 32 << 20, max_bytes = 32 << 20, step_bytes = 1 << 20;
  int step_factor = 1;  // 1: additive steps
  std::vector<std::size_t> sizes;
  int iterations = 20, aggregate = 1, warmup = 1, cycles = 1, check = 1, average = 1, blocking = 0;
  std::size_t unalign = 0;  // elements
  bool parallel_init = false, cpu_time = false, timestamps = false;
  std::vector<DataType> types = {DataType::float32};
  std::vector<ReduceOp> ops = {ReduceOp::sum};
  std::vector<int> roots = {0};
  bool all_roots = false;
  double timeout_s = 60;  // -T: of one wait, beside what its bytes take; 0: none
  double init_timeout_s = 120;
  double row_time_s = 4;  // --row-time: cap on the timed part of a row; 0: none
  std::uint64_t seed = 1;
  std::string bootstrap = "auto";  // --bootstrap
  std::string backend = "auto";
  BackendOptions backend_options;
  std::string output_file;     // -J
  std::string heartbeat_file;  // --heartbeat; empty: stderr
  std::vector<SizeLimit> min_busbw, max_time;
  std::optional<double> min_average_busbw;  // NCCL_TESTS_MIN_BW
  CollectiveOptions spec;
  SplitRule grouping;
  bool group_rows = false;  // one row per group instead of the slowest group's
  std::string mode;         // --mode; empty: the program's default
  Pairing pairing;
  bool concurrent = false;  // pairs without a common rank at the same time
  bool self_check = false;
  std::optional<Memory> memory;     // --memory host|cuda; empty: what the library prefers
  bool memory_report = false;       // -M
  std::optional<int> expect_gpus;   // --expect-gpus
  std::optional<int> first_device;  // NCCL_TESTS_DEVICE: this process's first
  std::string library;              // --library
  int graph_launches = 0;           // -G; 0: no graph
  bool per_iteration = false;       // -I
  int per_iteration_skip = 0;       // -K

  int ranks_per_process() const { return threads.value_or(1) * ranks_per_thread.value_or(1); }
};

// What the command line asks for: to run, or to print a text and stop.
struct Parsed {
  Options options;
  std::optional<std::string> print;  // --help, --version
};

using GetVariable = std::function<std::optional<std::string>(const char*)>;

// arguments: without argv[0]. Throws UsageError: one line naming the flag, what was given and what
// would be accepted. Throws Unsupported for operations that are not defined on the types.
Parsed parse_options(const Collective& collective, const std::vector<std::string>& arguments,
                     const GetVariable& environment);

// "8", "1K", "1.5G", "64MiB": binary units. Throws UsageError without the flag's name.
std::size_t parse_size(const std::string& text);

// The flags that were given and ask for something that only a library on GPUs has.
std::vector<std::string> gpu_flags(const Options& options);

// Throws UsageError, Unsupported.
void check_gpu_combinations(const Collective& collective, const Options& options);

// The operations on the types, where the collective reduces. Throws Unsupported.
void check_operations(const Collective& collective, const Options& options);

// The form of the program that `mode` names; empty: the collective itself.
const Collective& in_mode(const Collective& collective, std::string_view mode);

// The groups of a job whose hosts are not known yet: all ranks are taken to be on one.
RankGroups unplaced_groups(const Options& options, int ranks);

// Roots, matrices, pairs and the collective itself against the number of ranks of each group.
// Throws UsageError, Unsupported.
void check_groups(const Collective& collective, const Options& options, const RankGroups& groups);

// The sizes of the sweep, ascending as given.
std::vector<std::size_t> sweep_sizes(const Options& options);

}  // namespace ccl_tests
