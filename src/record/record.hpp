// The results of a run, as data: the header, one row per (size, type, op, root), the summary.
// Reporters format these and measure nothing. src/record/fields.hpp lists what the files hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/operation.hpp"
#include "src/core/setting.hpp"
#include "src/core/types.hpp"
#include "src/measure/beside.hpp"
#include "src/measure/estimate.hpp"
#include "src/measure/repeatability.hpp"
#include "src/measure/statistics.hpp"
#include "src/model/bounds.hpp"
#include "src/model/fit.hpp"
#include "src/options/options.hpp"
#include "verify/right_results.hpp"

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

// A warning says why the times or results mislead; the table shows the first one. A note concerns
// this program, type and operation. A listing has a line of its own. What is verbose stands in the
// table with --verbose only. Files hold all of them.
enum class NoteKind { warning, note, listing, verbose };

struct Note {
  NoteKind kind = NoteKind::note;
  std::string text;
  std::string remedy = {};  // what the user can do; every warning has one
};

struct RunInfo {
  Options options;                       // as they were given
  std::string run_id;                    // random, 16 hexadecimal digits; every row carries it
  std::string program;                   // "all_reduce_perf"
  std::string version;                   // of the suite, "0.1.0"
  std::string backend;                   // "gloo"
  std::string library_version;           // of the library under test
  std::string library_file;              // empty: built in
  std::vector<std::string> arguments;    // argv as given, without the program
  std::vector<std::string> environment;  // "NAME=value" of process 0; those that may matter
  // What not all ranks share, "NCCL_ALGO: rank 0: Ring, ranks 1-3: not set".
  std::vector<std::string> rank_differences = {};
  std::vector<Setting> settings;  // every flag that the program takes and files keep
  std::vector<Setting> unusual;   // those that tell its cells from those of a plain run
  std::string launcher;
  std::string placement;  // "2 threads of 1 process on 1 host"
  int threads = 1, ranks_per_thread = 1, processes = 1, ranks = 1;
  std::size_t min_bytes = 0, max_bytes = 0;    // that were asked for, as a range or as a list
  std::optional<std::size_t> planned_rows;     // absent: not known, or without end (-N 0)
  std::optional<double> precision;             // of streams and samples; absent: rows are batches
  std::string cache;                           // --cache, or its default; empty: no data are moved
  std::optional<std::size_t> cache_footprint;  // bytes of both buffers that rows rotate over
  std::string clock = "wall";                  // what time_s is of: "wall", or "cpu" with -C
  bool pair_rows = false;                      // rows of more than one pair
  std::string mode;                        // what distinguishes this run from others of its program
  std::string cpus_allowed;                // the inherited affinity mask, "0-1"
  bool oversubscribed = false;             // a host has fewer CPUs than busy threads
  std::optional<Ceiling> ceiling;          // --ceiling; absent: not known
  std::string ceiling_source;              // "pingpong" or "--ceiling"
  std::vector<Note> notes;                 // the most important first
  std::optional<std::size_t> reduced_max;  // -e lowered to this because of memory
  std::vector<RankLine> rank_lines;
  std::vector<std::string> output_files;  // -J: the names that were taken
  std::optional<double> clock_cost;       // seconds of a reading of the clock, on rank 0
  std::optional<double> clock_resolution;
  std::optional<double> core_to_core;  // seconds of a round trip between two CPUs of process 0
  std::string start_time;              // local_time()
  std::string library_known_as = {};   // BackendInfo::known_as; in the table alone
};

// -I: seconds per operation of each iteration, over ranks their largest, and their statistics.
struct IterationTimes {
  int skipped = 0;  // first iterations that are in none of the statistics (-K)
  std::vector<double> seconds;
  Statistics of = {};
  std::vector<std::uint64_t> processes = {};  // of the row's ranks, ascending; empty: only one
  std::vector<double> process_seconds = {};   // as `seconds`, of each, one process after the other
};

// The findings of a stream of calls beside the time. Seconds per operation.
struct StreamTimes {
  std::optional<double> low, high;  // of the interval that covers the time; absent: too few stamps
  double confidence = 0.95;         // of the interval
  double mean = 0;                  // of all calls, nccl-tests' number
  double fast = 0, slow = 0;        // 10th and 90th percentile of the stamps
  std::uint64_t stamps = 0, calls_per_stamp = 1;
  bool precision_reached = false;
  std::vector<double> seconds = {};       // of each stamp over its calls, over ranks by -a (--raw)
  std::vector<std::string> flags = {};    // what makes the time doubtful, see docs/METHOD.md
  std::vector<double> rank_seconds = {};  // as `seconds`, of each rank, one rank after the other
  double median = 0;                      // of the stamps
  bool stolen = false;                    // a hypervisor took CPUs from the ranks: has_steal()

  // Half of the interval's width over `time`.
  std::optional<double> half_width(double time) const {
    if (!low || !high || time <= 0) return std::nullopt;
    return (*high - *low) / 2 / time;
  }
};

// The findings of samples (operations that a barrier makes begin together) beside StreamTimes.
// Seconds. Absent and empty where moments of ranks cannot be compared.
struct SampleTimes {
  std::optional<double> clock_error;  // of a moment on another machine's clock; 0: of one machine
  std::optional<double> bracket_low;  // per operation, median: from the last entry to the last exit
  std::optional<double> bracket_high;  // per operation, median: from the first entry to it
  std::optional<double> skew;          // median from the first entry to the last
  std::optional<double> skew_p99;      // its 99th percentile; absent of fewer than 100 samples
  std::optional<double> skew_share;    // the median skew over the median sample
  std::vector<std::uint64_t> ranks;    // of the world, that took the samples
  std::vector<double> late_share;      // of each: share of samples that it entered last
  std::vector<double> slow_share;      // share of samples that it left last
  std::vector<double> late_s;          // median from the median rank's entry to its own
};

// Wrong elements that one rank found in half a row.
struct Mismatch {
  int rank = 0;  // of the world
  std::string host;
  std::optional<int> group, group_rank;  // present if the ranks are split into groups
  std::uint64_t wrong = 0;               // elements that differ, over all checks
  std::uint64_t first = 0, last = 0;     // indices of the first finding's elements
  std::string explanation;               // expected and found bits of `first`, and what they are
};

// The verdict on a limit, by ascending trouble. undecided: it lies within the interval.
enum class LimitVerdict { kept, undecided, missed };

// A cell: one placement of a row.
struct Measurement {
  double seconds = 0;      // per operation, by -a over ranks; CPU time with -C; median or mean
  double min_seconds = 0;  // over ranks, wall
  double max_seconds = 0;
  double algbw = 0, busbw = 0;       // GB/s (1e9), from wall time
  std::optional<double> efficiency;  // lower bound of the time over the time; absent: no ceiling
  std::optional<double> messages_per_s;  // of a pair, in one direction
  std::optional<std::uint64_t> wrong;  // elements, over ranks and checks; absent: not checked (N/A)
  std::uint64_t failed_ranks = 0;      // ranks with any wrong element
  int iterations = 0;                  // timed operations / aggregate, after --row-time's cap
  std::uint64_t calls = 0;             // of rank 0, timed and checked
  std::uint64_t verified_calls = 0;    // whose result was compared
  bool repeats_out_of_place = false;   // the collective has no in-place form
  bool left_out = false;               // by -O: nothing was measured, and files have no line
  std::optional<StepTimes> steps;      // of a composite: seconds per operation, mean over ranks
  std::optional<IterationTimes> per_iteration;  // -I
  std::optional<StreamTimes> stream;            // absent: a batch (-n); its stamps may be samples
  std::optional<SampleTimes> samples;           // --samples
  std::optional<double> pass_spread;  // of passes or moments: longest minus shortest, over the time
  std::vector<double> moment_seconds = {};  // the time at each of Row::moments, the row's last
  std::optional<Evidence> evidence;         // of the timed blocks, over ranks; absent: not counted
  // The worst of this time's limits, by its own interval; absent: it has none. The summary's
  // findings know also how far times of the run repeat.
  std::optional<LimitVerdict> limit;
  std::vector<Mismatch> mismatches;  // by rank; empty: none

  // Returns false if nothing was measured, or what another cell of the row shows.
  bool has_own_time() const { return !left_out && !repeats_out_of_place; }
};

// The knowledge of a result's bits, by ascending trouble. order_independent: the same when ranks
// exchange their data. stable: the same in every call, on every rank, in and out of place.
enum class Reproducibility { order_independent, stable, varies };
std::string_view name(Reproducibility found);

// The finding of repeating a row's reduction on data that are rounded (--reproducible).
struct Reproduction {
  Reproducibility verdict = Reproducibility::order_independent;
  // "calls", "ranks", "placements", "alignments", "rows", "runs"
  std::vector<std::string> varies_between = {};
  std::uint64_t calls = 0;         // of a rank
  std::string digest = {};         // of all ranks' results: 16 hexadecimal digits
  std::string compared_with = {};  // "rows" of this run, or other "runs", of which there is
  std::string known_digest = {};   // this one; empty: of neither
  // The first element that differs; stable: between ranks' data in another order. Absent: none.
  std::optional<int> difference_rank = {};
  std::optional<std::uint64_t> difference_index = {};
  std::optional<std::uint64_t> difference_ulps = {};  // of integers their difference
  std::string difference = {};                        // "1 (0x3f800000) and 1.25 (0x3fa00000)"
};

// What a row's operation and a load on each rank did to each other (--beside).
struct BesideFinding : BesideRatios {
  std::string load;  // "cpu", "memory", "copy"
};

struct Row {
  std::size_t bytes = 0;  // "size"
  std::size_t count = 0;  // "count"
  DataType type = DataType::float32;
  std::optional<ReduceOp> op;  // absent: nothing is reduced
  std::optional<int> root;     // absent: the collective has none
  std::optional<int> hosts;    // of the row's ranks, by name; absent: not known
  Measurement out_of_place, in_place;
  double bus_factor = 0;
  bool emulated = false;
  std::string arithmetic = {};   // that reduced: "library" or "suite"; empty: none, or not known
  double coverage = 1;           // share of ranks whose missing contribution this row would show
  int cycle = 0;                 // -N
  std::optional<int> pass;       // --passes: from 1; absent: the row stands for all of them
  int passes = 1;                // that the row stands for
  int moments = 1;               // of the run at which its times were taken
  std::optional<int> group;      // --group-rows
  std::optional<RankPair> pair;  // where the program runs on pairs
  std::string algorithm;         // that the library says it chose (--show-algorithm)
  std::string data = "exact";    // --data, where a reduction of floating-point values has it
  verify::Observations seen;     // of wide and special data: what standards leave open
  std::string observed;          // the same in words
  std::optional<Reproduction> reproduction;      // --reproducible
  std::optional<BesideFinding> beside;           // of the first placement that is measured
  std::optional<double> padding_waste;           // bytes that are sent for each byte of data
  std::optional<double> expert_load, rank_load;  // of the busiest over the mean; routed tokens only
  std::optional<std::size_t> wire_bytes;         // between ranks, of all of them
  std::string timestamp;                         // local_time() at the row's end

  // Returns the first placement that was measured.
  const Measurement& first_measured() const {
    return out_of_place.left_out ? in_place : out_of_place;
  }
};

// The rank that entered most samples last.
struct LateRank {
  int rank = 0;
  std::string host;
  double share = 0;  // of the samples that it took part in, those that it entered last
  std::uint64_t samples = 0;
  double late_s = 0;  // median from the median rank's entry to its own
};

// The fit of the times of one type, operation, root and placement.
struct SweepFit {
  DataType type = DataType::float32;
  std::optional<ReduceOp> op;
  std::optional<int> root;
  std::string placement;     // "out_of_place" or "in_place"
  std::size_t left_out = 0;  // times whose interval is too wide to judge them
  FitResult result;
};

// The cell with the largest bus bandwidth.
struct Peak {
  std::size_t bytes = 0;
  double busbw = 0;  // GB/s
};

// The findings of a run of a given time beside its rows. Memory: of the rank's process that grew
// most.
struct Soak {
  double seconds = 0;
  std::size_t cycles = 0;  // complete ones
  int rank = 0;
  double first_bytes = 0, last_bytes = 0;  // resident after the first cycle, and at the end
};

// Rows by what --reproducible found.
struct ReproductionSummary {
  std::size_t order_independent = 0, stable = 0, varying = 0;
  std::string first_varying;  // which row, between what, where
  std::size_t compared = 0;   // with other runs
  std::string digests;        // the file of these; empty: none
};

// The finding about one limit.
struct LimitFinding {
  LimitVerdict verdict = LimitVerdict::kept;
  std::string flag;       // "--max-time"
  std::string row = {};   // "8 B float sum in place"; empty: of the whole run
  std::string unit = {};  // of the numbers: "us", "GB/s"; of a ratio empty
  std::optional<double> limit = {};
  std::optional<double> value = {};           // that was held to it; absent: not measured
  std::optional<double> low = {}, high = {};  // its interval; absent: none
  std::string text = {};                      // the whole of it in a line; empty: kept
};
// Returns the lines of those with this verdict.
std::vector<std::string> limit_lines(const std::vector<LimitFinding>& limits, LimitVerdict verdict);

// A time beside others of its run.
struct WideTime {
  double half_width = 0;  // of its interval, over it; infinite: it has none
  std::string place;      // "8 KiB in place"
};

// The most serious of what a run showed, by ascending seriousness.
enum class Verdict { ok, unreliable, slow, varies, wrong, incomplete };

// The use of those CPUs of one machine that the ranks may use, while rows were measured.
struct CpuUse {
  std::size_t cpus = 0;
  double others = 0;  // of them, that programs used which are not of the job
  double idle = 0;    // of them
};
// Returns whether other programs took a twentieth of the CPUs or more, and more than was idle.
inline bool is_crowded(const CpuUse& use) {
  return use.others >= 0.05 * static_cast<double>(use.cpus) && use.idle < use.others;
}

// The numbers that were measured after the last row, on rank 0.
struct AfterRows {
  std::optional<Repeatability> repeats = {};  // absent: no time was measured again
  std::optional<Soak> soak = {};              // --duration
  std::optional<double> core_to_core = {};    // as RunInfo::core_to_core
  std::string memory = {};                    // -M: nccl-tests' line
  std::string spoiled = {};            // --inject: how many operations it has changed, in a line
  std::optional<CpuUse> cpu_use = {};  // absent: not counted
  std::string wire = {};    // by which interface bytes left, if a user chose one, in a line
  bool wrong_wire = false;  // most left by another one
};

struct RunSummary : AfterRows {
  Verdict verdict = Verdict::ok;
  bool complete = true;  // false: interrupted or failed before the last row
  int exit_code = 0;
  std::string failure;              // of a run that is not complete: who, what, doing what
  std::vector<std::string> errors;  // all that is known about the failure
  std::size_t rows = 0, wrong_rows = 0;
  std::size_t largest_bytes = 0;    // of all rows
  std::uint64_t failed_checks = 0;  // cells x ranks with a wrong element ("Out of bounds values")
  std::uint64_t wrong_elements = 0;
  std::uint64_t calls = 0, verified_calls = 0;
  std::size_t times = 0;              // that a stream gave; 0: batches have no intervals
  std::size_t precise_times = 0;      // whose interval is as narrow as was asked for
  std::optional<double> widest;       // half width over the time, of all that have an interval
  std::string widest_row;             // "65536 B float sum out of place"
  std::optional<double> usual_width;  // half width that three of four times are within
  std::size_t unusual_times = 0;      // that are not
  std::size_t wide_times = 0;         // that are wider than WidthTally::wide, or have no interval
  std::size_t unbounded_times = 0;    // without an interval
  // The least size from which on all times are within WidthTally::wide.
  std::optional<std::size_t> sure_from_bytes = {};
  std::vector<WideTime> widest_times = {};  // the widest ones, at most three, by descending width
  std::size_t stolen_times = 0;       // in which a hypervisor took over 1 % of the ranks' CPU time
  std::optional<LateRank> late_rank;  // --samples; absent: no rank stands out
  std::optional<ReproductionSummary> reproduction;  // --reproducible
  std::string first_wrong;           // where the first wrong element is, and what it is
  std::string rerun;                 // flags that select the row of first_wrong
  double average_busbw = 0;          // arithmetic mean over all cells
  std::optional<bool> bandwidth_ok;  // NCCL_TESTS_MIN_BW; absent: not asked
  std::vector<LimitFinding> limits;  // of rows, in their order, then of the run
  std::vector<SweepFit> fits;        // of sweeps over sizes; empty if the run is not complete
  std::optional<Peak> peak;          // absent: no bandwidth
  std::vector<std::string> notes;    // capped iterations, coverage, wrong data, pairs
  std::string end_time;
};
inline bool varies(const RunSummary& summary) {
  return summary.reproduction && summary.reproduction->varying > 0;
}
// Returns whether results were to be spoiled (--inject), and none is wrong.
inline bool hides_fault(const RunSummary& summary) {
  return !summary.spoiled.empty() && summary.failed_checks == 0 && !varies(summary);
}
// Returns whether most times are wide, or of CPUs that the ranks did not have.
inline bool is_doubtful(const RunSummary& summary) {
  return summary.wide_times * 2 > summary.times || summary.stolen_times * 2 > summary.times;
}

}  // namespace ccl_tests
