#include "tests/golden/samples.hpp"

#include <limits>

namespace ccl_tests::samples {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Measurement cell(double seconds, double algbw, double busbw) {
  Measurement cell;
  cell.seconds = seconds;
  cell.min_seconds = seconds * 0.75;
  cell.max_seconds = seconds * 1.25;
  cell.algbw = algbw;
  cell.busbw = busbw;
  cell.wrong = 0;
  cell.iterations = 20;
  cell.calls = 22;
  cell.verified_calls = 6;
  return cell;
}

Row row(std::size_t bytes, const Measurement& out_of_place, const Measurement& in_place) {
  Row row;
  row.bytes = bytes;
  row.count = bytes / 4;
  row.type = DataType::float32;
  row.op = ReduceOp::sum;
  row.out_of_place = out_of_place;
  row.in_place = in_place;
  row.bus_factor = 4.0 / 3;
  row.hosts = 2;
  row.timestamp = "2026-11-20T22:33:45.250+01:00";
  return row;
}

RunInfo record() {
  RunInfo run;
  run.run_id = "0123456789abcdef";
  run.program = "all_reduce_perf";
  run.version = "0.1.0";
  run.backend = "gloo";
  run.library_version = "0.0~git20220518";
  run.library_file = "/usr/lib/x86_64-linux-gnu/libgloo.so.0";
  run.arguments = {"-b", "8", "-e", "1M"};
  run.environment = {"NCCL_TESTS_MIN_BW=1.5"};
  run.rank_differences = {"kernel: ranks 0-1: 6.1.0, rank 2: 6.12.0"};
  run.options.output.label = "before the upgrade";
  run.settings = {{"label", run.options.output.label},
                  {"iterations", std::int64_t{20}},
                  {"timeout_s", 0.5},
                  {"per_iteration", false},
                  {"group", {}}};
  run.placement = "3 threads of 1 process on 1 host";
  run.planned_rows = 2;
  run.launcher = "none";
  run.threads = 3;
  run.ranks = 3;
  run.min_bytes = 8;
  run.max_bytes = 1048576;
  run.options.sweep.step_bytes = 1048576;
  run.options.check.seed = 18446744073709551615U;
  run.cpus_allowed = "0-1";
  run.notes = {{NoteKind::verbose, "time is the mean of a fixed batch"}};
  for (int rank = 0; rank < 3; ++rank) {
    run.rank_lines.push_back({rank, 0, 4711, "node1", rank, "Intel(R) Xeon(R) CPU"});
  }
  run.start_time = "2026-11-20T22:33:44.125+01:00";
  return run;
}

RunSummary summary() {
  RunSummary summary;
  summary.rows = 2;
  summary.average_busbw = 22.7552;
  summary.calls = 88;
  summary.verified_calls = 24;
  summary.end_time = "2026-11-20T22:34:00.000+01:00";
  return summary;
}

Run wrong_data() {
  Run run = plain();
  run.name = "wrong_data";
  run.rows[0].out_of_place.wrong = 1;
  run.rows[1].in_place.wrong = 12345678;
  run.rows[0].out_of_place.failed_ranks = 1;
  run.rows[1].in_place.failed_ranks = 3;
  run.rows[0].out_of_place.mismatches = {
      {2, "node1", {}, {}, 1, 0, 0, "expected 0x3f800000, found poison"}};
  run.rows[1].in_place.mismatches = {
      {0, "node1", 0, 0, 12345676, 0, 261119, "expected 0x3f800000, found poison"},
      {1, "node1", 1, 0, 1, 7, 7, "expected 0x3f800000, found 0x40000000 (rank 1's input)"},
      {2, "node1", 1, 1, 1, 8, 8, "expected 0x3f800000, found 0x40000000 (rank 1's input)"}};
  run.summary.verdict = Verdict::wrong;
  run.summary.wrong_rows = 2;
  run.summary.failed_checks = 4;
  run.summary.wrong_elements = 12345679;
  run.summary.first_wrong =
      "rank 2 on node1, 8 B float sum out of place, element 0: expected 0x3f800000, found poison";
  run.summary.rerun = "-b 8 -e 8 -d float -o sum -c 20 --seed 1";
  run.summary.bandwidth_ok = true;
  run.summary.wire = "interface: 235 MB left by eth1 (--interface)";
  run.summary.exit_code = 7;
  run.summary.notes = {
      "wrong: 8 B float sum out of place: rank 2 on node1: 1 wrong, elements 0 to 0: expected "
      "0x3f800000, found poison"};
  return run;
}

// --reproducible: the first row is stable, the second one is not.
Run varying() {
  Run run = plain();
  run.name = "varying";
  run.rows[0].reproduction = {Reproducibility::stable,
                              {},
                              20,
                              "0123456789abcdef",
                              "",
                              "",
                              1,
                              0,
                              1,
                              "1 (0x3f800000) and 1.00000012 (0x3f800001)"};
  run.rows[1].reproduction = {Reproducibility::varies, {"runs"}, 20,
                              "00000000ffffffff",      "runs",   "00000000fffffffe"};
  run.summary.reproduction = {0, 1, 1, "1048576 B float sum between runs", 2, "sums.txt"};
  run.summary.verdict = Verdict::varies;
  run.summary.exit_code = 7;
  return run;
}

// alltoall: no in-place form, nothing is reduced; the second row is not checked at all.
Run unchecked() {
  Run run = plain();
  run.name = "unchecked";
  run.record.program = "alltoall_perf";
  for (Row& row : run.rows) {
    row.op.reset();
    row.in_place.wrong.reset();
    row.in_place.repeats_out_of_place = true;
  }
  run.rows[1].out_of_place.wrong.reset();
  run.rows[1].out_of_place.verified_calls = 0;
  run.summary.bandwidth_ok = false;
  run.summary.verdict = Verdict::slow;
  run.summary.limits = {
      {.verdict = LimitVerdict::missed,
       .flag = "NCCL_TESTS_MIN_BW",
       .unit = "GB/s",
       .limit = 50,
       .value = 22.76,
       .text = "too slow: the average busbw, 22.76 GB/s, is below 0.9 x NCCL_TESTS_MIN_BW 50"}};
  run.summary.exit_code = 6;
  return run;
}

Run timestamps() {
  Run run = plain();
  run.name = "timestamps";
  run.record.options.output.timestamps = true;
  run.record.options.sweep.step_factor = 1;
  run.record.reduced_max = 524288;
  run.record.library_file.clear();
  return run;
}

Run cpu_time() {
  Run run = plain();
  run.name = "cpu_time";
  run.record.clock = "cpu";
  run.record.output_files = {"results/run.json", "results/run.csv"};
  run.record.options.measure.blocking = 3;
  run.record.options.job.parallel_init = true;
  run.record.options.sweep.sizes = {8, 1048576};
  run.record.library_version = "2.30.7 for CUDA 13";
  run.record.library_file = "/usr/lib/x86_64-linux-gnu/libnccl.so.2";
  run.record.backend = "nccl";
  return run;
}

Run interrupted() {
  Run run = plain();
  run.name = "interrupted";
  run.rows.pop_back();
  run.summary.verdict = Verdict::incomplete;
  run.summary.complete = false;
  run.summary.exit_code = 4;
  run.summary.rows = 1;
  run.summary.failure =
      "rank 1 on node1 (pid 4711) is gone during all_reduce float sum, 1048576 B, in place";
  run.summary.notes = {"iterations were capped at 3 in 1 row"};
  run.summary.errors = {"[node1 rank 2/3] peer closed the connection: all_reduce, 8 bytes",
                        "rank 1 on node1 (pid 4711) is gone"};
  return run;
}

Run extremes() {
  Run run = plain();
  run.name = "extremes";
  run.rows = {row(0, cell(1e-10, 0, 0), cell(9.99994, 9999.94, 99999.94)),
              row(8, cell(9.9999951, 999999.6, 99999.96), cell(123.456789, 123456789.0, 1e22)),
              row(std::numeric_limits<std::size_t>::max(), cell(nan, infinity, nan),
                  cell(1e9, -infinity, -1.0))};
  run.rows[2].out_of_place.wrong = std::numeric_limits<std::uint64_t>::max();
  run.rows[2].root = 1023;
  run.rows[2].type = DataType::bfloat16;
  run.rows[2].op = ReduceOp::mulsum;
  run.rows[2].emulated = true;
  run.rows[2].arithmetic = "suite";
  run.rows[2].coverage = 1.0 / 3;
  run.rows[2].data = "special";
  run.rows[2].observed = "a NaN wins";
  run.rows[2].cycle = 2;
  run.summary.average_busbw = 1.25e-7;
  return run;
}

// SIGINT in a run without end (-N 0), before its first row.
Run no_rows() {
  Run run = plain();
  run.name = "no_rows";
  run.record.options.sweep.cycles = 0;
  run.record.planned_rows.reset();
  run.rows.clear();
  run.summary = {};
  run.summary.verdict = Verdict::incomplete;
  run.summary.complete = false;
  run.summary.exit_code = 130;
  run.summary.failure = "interrupted by signal 2 (SIGINT) during connecting";
  run.summary.errors = {"interrupted by signal 2 (SIGINT)"};
  run.summary.end_time = "2026-11-20T22:34:00.000+01:00";
  return run;
}

// Warnings and notes, on more ranks than the header shows.
Run notes() {
  Run run = plain();
  run.name = "notes";
  run.record.rank_differences = {"CPUs: ranks 0-9: 0, ranks 10-19: 1"};
  run.record.notes = {
      {NoteKind::warning, "2 CPUs for 40 busy threads", "use fewer ranks or allow more CPUs"},
      {NoteKind::warning, "simulated", "rely on correctness only"},
      {NoteKind::note, "mode: ring"},
      {NoteKind::note, "lengths of the ranks' blocks: linear"},
      {NoteKind::listing, "rank 0 sends 8 B"},
      {NoteKind::verbose, "never shown"}};
  for (int rank = 3; rank < 20; ++rank)
    run.record.rank_lines.push_back({rank, 0, 4711, "node1", rank, "Intel(R) Xeon(R) CPU"});
  return run;
}

// -n 0: nothing is timed.
Run zero_iterations() {
  Run run = plain();
  run.name = "zero_iterations";
  run.record.options.measure.iterations = 0;
  for (Row& row : run.rows) {
    row.out_of_place = row.in_place = cell(0, 0, 0);
    row.out_of_place.iterations = row.in_place.iterations = 0;
  }
  run.summary.average_busbw = 0;
  return run;
}

// --group-rows 1: a row for each group.
Run group_rows() {
  Run run = plain();
  run.name = "group_rows";
  run.record.options.sweep.group_rows = true;
  for (std::size_t i = 0; i < run.rows.size(); ++i) run.rows[i].group = static_cast<int>(i);
  return run;
}

// A composite: what its time went into.
Run steps() {
  Run run = plain();
  run.name = "steps";
  run.record.program = "all_gather_object_perf";
  for (Row& row : run.rows) {
    row.padding_waste = 3.9876543;
    row.expert_load = 2.5;
    row.rank_load = 1.25;
    row.wire_bytes = 6291456;
    row.out_of_place.steps = {1e-6, 8e-6, 1e-6};
  }
  run.rows[0].in_place.steps = {0, 9e-6, 1e-6};
  run.rows[1].in_place.steps = run.rows[1].out_of_place.steps;
  run.rows[1].in_place.repeats_out_of_place = true;
  return run;
}

}  // namespace

// -O 0: one placement alone.
Run in_place() {
  Run run = plain();
  run.name = "in_place";
  run.record.settings.push_back({"placements", std::string("in_place")});
  for (Row& row : run.rows) {
    row.out_of_place = Measurement();
    row.out_of_place.left_out = true;
  }
  return run;
}

Run plain() {
  return {"plain",
          record(),
          {row(8, cell(12.34e-6, 0.00065, 0.00086), cell(11.5e-6, 0.0007, 0.00093)),
           row(1048576, cell(34.56e-6, 30.34, 45.51), cell(1034.5678e-6, 1.0136, 1.3514))},
          summary()};
}

Run pair_rows() {
  Run run = plain();
  run.name = "pair_rows";
  run.record.program = "pingpong_perf";
  run.record.mode = "back and forth, window 1";
  run.record.pair_rows = true;
  run.rows[0].pair = {0, 1};
  run.rows[1].pair = {12, 345};
  for (Row& row : run.rows) {
    row.op.reset();
    row.out_of_place.messages_per_s = 1 / row.out_of_place.seconds;
  }
  return run;
}

std::vector<Run> all() {
  return {plain(),     wrong_data(),  varying(),        unchecked(),       timestamps(),
          cpu_time(),  interrupted(), extremes(),       zero_iterations(), group_rows(),
          pair_rows(), steps(),       no_rows(),        notes(),           per_iteration(),
          stream(),    undecided(),   single_samples(), passes(),          fits()};
}

Run with_text(const std::string& text) {
  Run run = plain();
  RunInfo& record = run.record;
  for (std::string* field :
       {&record.program, &record.version, &record.backend, &record.library_version,
        &record.library_file, &record.launcher, &record.placement, &record.cpus_allowed,
        &record.start_time, &record.run_id}) {
    *field = text;
  }
  record.arguments = {text, text};
  record.environment = {text};
  record.rank_differences = {text, "CPUs: " + text};
  record.output_files = {text};
  record.notes = {{NoteKind::warning, text, text},
                  {NoteKind::note, text},
                  {NoteKind::listing, text},
                  {NoteKind::verbose, text}};
  record.options.output.verbose = true;
  for (Row& row : run.rows) row.algorithm = row.data = row.observed = text;
  for (RankLine& line : record.rank_lines) line.host = line.device_name = text;
  run.summary.notes = run.summary.errors = {text};
  run.summary.limits = {
      {.verdict = LimitVerdict::missed, .flag = text, .row = text, .unit = text, .text = text}};
  run.summary.memory = text;
  run.summary.end_time = text;
  return run;
}

}  // namespace ccl_tests::samples
