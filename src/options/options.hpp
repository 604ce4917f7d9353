// The command line as data: a struct for each part of the program that uses it.
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
#include "src/core/exit_codes.hpp"
#include "src/core/types.hpp"
#include "src/devices/load.hpp"
#include "src/job/job_setup.hpp"
#include "src/options/rank_groups.hpp"
#include "src/options/row_options.hpp"
#include "verify/inputs.hpp"

namespace ccl_tests {

// The options of verification.
struct CheckOptions {
  int calls = 1;     // verified before timing; 0: nothing is verified
  bool all = false;  // every call is verified, untimed and timed ones too; `calls` as without it
  std::uint64_t seed = 1;
  verify::DataChoice data;    // --data, --wide-bytes
  bool reproducible = false;  // repeat reductions whose bits depend on the order of additions
  std::string digests;        // the file in which their digests are kept; empty: none
};

// The bandwidth of a link between two ranks in one direction: --ceiling.
struct CeilingOption {
  bool measured = false;           // auto: by a pingpong before the sweep
  std::optional<double> gb_per_s;  // as given
};

// The options of timing.
struct MeasureOptions {
  int iterations = 20, aggregate = 1, warmup = 1;
  bool warmup_given = false;  // exactly `warmup` untimed iterations; otherwise at least so many
  int average = 1;            // over ranks: 0 rank 0, 1 mean, 2 minimum, 3 maximum
  int blocking = 0;           // 0 wait once, 1 wait and barrier, 2 wait, 3 untimed barrier
  bool cpu_time = false;
  double precision =
      0.02;  // that the interval of a time shall have: half of its width over the time
  double time_budget_s = 0;  // of the timed calls of all rows; 0: 0.3 s for each time
  // nccl-tests' batch of `iterations`. Otherwise a stream of calls, until the time has its precision.
  bool batch = false;
  bool samples = false;            // single operations, each after a barrier, instead of a stream
  std::optional<CacheUse> cache;   // nullopt: warm in host memory, rotate on GPUs
  std::optional<LoadKind> beside;  // that runs beside each row's operation, after its times
  double row_time_s = 4;           // largest timed part of a row; 0: no limit
  int graph_launches = 0;          // 0: no graph
  bool per_iteration = false;
  int per_iteration_skip = 0;
  CeilingOption ceiling;
};

// The file of the verdict that a process with --exit-codes reads of the run that it starts. It is no flag: ranks whose user has not given
// --verdict must not be taken to have one.
inline constexpr const char* monitor_verdict_variable = "CCL_MONITOR_VERDICT";

// The places where results go beside standard output.
struct OutputOptions {
  std::vector<std::string> files;
  std::string verdict;          // file of the run's verdict; empty: none
  std::string monitor_verdict;  // the same, for the process that started this one
  ExitCodes exit_codes = ExitCodes::native;
  bool timestamps = false;
  bool stats = false;    // columns about the certainty of times
  bool raw = false;      // every stamp in files
  bool explain = false;  // print what the table means, instead of a run
  bool verbose = false;  // the whole header
  std::string label;     // kept with the results
};

// The points of the sweep: sizes, types, operations, roots, groups and pairs of ranks.
struct SweepOptions {
  std::size_t min_bytes = 32 << 20, max_bytes = 32 << 20, step_bytes = 1 << 20;
  int step_factor = 2;              // 1: steps of step_bytes
  std::vector<std::size_t> sizes;   // in bytes; not empty: replaces the four above
  std::vector<std::size_t> tokens;  // of a rank, of the first type; not empty: become `sizes`
  std::size_t unalign = 0;          // elements
  std::vector<DataType> types = {DataType::float32};
  std::vector<ReduceOp> ops = {ReduceOp::sum};
  std::vector<int> roots = {0};
  bool all_roots = false;  // instead of `roots`
  int cycles = 1;          // 0: until stopped, or until the duration is over
  double duration_s = 0;   // of all cycles together; 0: `cycles` says how many
  int passes = 1;          // over the whole sweep, whose rows become one
  std::string mode;        // of the program's forms; empty: its default
  SplitRule grouping;
  bool group_rows = false;  // one row per group instead of the slowest group's
  Pairing pairing;
  bool concurrent = false;  // pairs without a common rank at the same time
  Placements placements = Placements::both;
};

// The sizes of the sweep, ascending as given.
std::vector<std::size_t> sweep_sizes(const SweepOptions& options);

// The file of alltoallv's blocks: NCCL_TESTS_ALLTOALLV_MATRIX_FILE and _SCALE.
inline constexpr const char* matrix_variable = "NCCL_TESTS_ALLTOALLV_MATRIX_FILE";
struct MatrixFile {
  std::string file;  // empty: none
  double scale = 1;  // of its numbers
};

struct Options {
  JobOptions job;
  SweepOptions sweep;
  MeasureOptions measure;
  CheckOptions check;
  OutputOptions output;
  Limits limits;
  CollectiveOptions spec;
  MatrixFile matrix;
  GpuOptions gpu;
  BackendOptions backend;          // what the library under test is told
  std::vector<std::string> given;  // flags and variables that were set, by their first names
};

// The result of reading a command line: to run, or to print a text and stop.
struct Parsed {
  Options options;
  std::optional<std::string> print;  // --help, --help-all, --version
};

using GetVariable = std::function<std::optional<std::string>(const char*)>;

// Reads `arguments` (without argv[0]) and the environment. Throws UsageError with one line: the
// flag, what was given, and what is accepted. Throws Unsupported for operations that are not
// defined on the types.
Parsed parse_options(const Collective& collective, const std::vector<std::string>& arguments,
                     const GetVariable& environment);

// Returns the flags that ask for something that only a library on GPUs has.
std::vector<std::string> gpu_flags(const Options& options);

// The form of the program that `mode` names; empty: the collective itself.
const Collective& in_mode(const Collective& collective, std::string_view mode);

// The groups of a job whose hosts are not known yet: all ranks are taken to be on one.
RankGroups unplaced_groups(const Options& options, int ranks);

// Checks roots, matrices, pairs and the collective itself against the number of ranks of each
// group. Throws UsageError, Unsupported.
void check_groups(const Collective& collective, const Options& options, const RankGroups& groups);

}  // namespace ccl_tests
