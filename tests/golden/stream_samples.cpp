// Runs whose rows have more than a mean: streams, samples, single iterations.
#include "tests/golden/samples.hpp"

namespace ccl_tests::samples {

// A stream with --stats: one time that is precise, one with too few stamps, one that is neither.
Run stream() {
  Run run = plain();
  run.name = "stream";
  run.record.precision = 0.02;
  run.record.cache = "cold";
  run.record.clock_cost = 22e-9;
  run.record.clock_resolution = 1e-9;
  run.record.core_to_core = 104e-9;
  run.summary.core_to_core = 431e-9;
  run.record.cache_footprint = std::size_t{64} << 20;
  run.record.options.output.stats = true;
  run.record.notes.push_back({NoteKind::warning, "2 CPUs for 4 busy threads", "use fewer ranks"});
  for (Row& row : run.rows) {
    Measurement& precise = row.out_of_place;
    const double time = precise.seconds;
    precise.stream = {time * 0.99, time * 1.015, 0.95, time * 1.5, time * 0.9, time * 1.1,
                      512,         64,           true, {},         {"drift"}};
    row.in_place.stream = {time * 0.5,
                           time * 2,
                           0.95,
                           time * 1.5,
                           time * 0.5,
                           time * 3,
                           100,
                           1,
                           false,
                           {},
                           {"imprecise", "bimodal", "page faults", "noise"}};
    precise.evidence = Evidence{3, 0, 40, 2, 0};
    row.in_place.evidence = Evidence{1000, 1, 4000, 99, 0.25};
  }
  run.rows[0].out_of_place.stream->median = 12.3e-6;
  run.rows[0].moments = 3;
  run.rows[0].beside = {{{1.3125, 1.28, 1.35}, {0.875, 0.86, 0.91}, 1.25, 20}, "memory"};
  run.rows[1].beside = {{{17.5, {}, {}}, {0.0625, {}, {}}, 0.5, 5}, "memory"};
  run.rows[0].out_of_place.stream->seconds = {12.2e-6, 12.35e-6};
  run.rows[0].out_of_place.stream->rank_seconds = {12.2e-6, 12.3e-6, 12.1e-6,
                                                   12.4e-6, 12.3e-6, 12.35e-6};
  run.rows[1].in_place.stream = {{}, {}, 0.95, 1, 1, 1, 3, 1, false, {}, {"imprecise"}};
  run.summary.times = 4;
  run.summary.precise_times = 2;
  run.summary.widest = 0.75;
  run.summary.widest_row = "8 B float sum in place";
  run.summary.usual_width = 0.02;
  run.summary.unusual_times = 1;
  run.summary.wide_times = 2;
  run.summary.unbounded_times = 1;
  run.summary.stolen_times = 1;
  run.summary.widest_times = {{std::numeric_limits<double>::infinity(), "64 B in place"},
                              {0.75, "8 B in place"},
                              {0.0125, "8 B"}};
  run.summary.repeats = Repeatability{6, 0.045, 0.125, 1.75};
  return run;
}

// -I: statistics of single iterations. In place ranks of only one of the processes are in the row.
Run per_iteration() {
  Run run = plain();
  run.name = "per_iteration";
  run.record.options.measure.per_iteration = true;
  run.record.options.measure.per_iteration_skip = 1;
  run.record.placement = "4 threads of 2 processes on 2 hosts, 2 on each";
  run.record.launcher = "mpirun";
  run.record.threads = run.record.processes = 2;
  run.record.ranks = 4;
  run.record.rank_lines.push_back({3, 0, 4712, "node2", 1, "Intel(R) Xeon(R) CPU"});
  run.record.rank_lines[2] = {2, 0, 4712, "node2", 0, "Intel(R) Xeon(R) CPU"};
  for (Row& row : run.rows) {
    IterationTimes times{1, {5e-6, 1e-6, 2e-6}, {1e-6, 2e-6, 1.5e-6, 2e-6, 2e-6, 2e-6, 0.5e-6}};
    row.in_place.per_iteration = times;
    times.processes = {0, 1};
    times.process_seconds = {5e-6, 0.75e-6, 2e-6, 4e-6, 1e-6, 1.25e-6};
    row.out_of_place.per_iteration = times;
  }
  return run;
}

// --samples with --stats: one time of ranks on one machine, one of ranks on several.
Run single_samples() {
  Run run = stream();
  run.name = "samples";
  run.record.options.measure.samples = true;
  run.record.options.measure.average = 3;
  for (Row& row : run.rows) {
    Measurement& cell = row.out_of_place;
    const double time = cell.seconds;
    cell.stream->flags = {"skew", "clock"};
    cell.samples = SampleTimes{1e-7,  time * 0.9, time * 1.1,      time * 10, {},
                               0.155, {0, 1, 2},  {0.25, 0, 0.75}, {0, 0, 1}, {-1e-6, 0, 2e-6}};
    row.in_place.samples.emplace().ranks = {0, 1, 2};
  }
  run.rows[1].out_of_place.samples->skew_p99 = 5e-6;
  run.summary.late_rank = LateRank{2, "node1", 0.925, 1200, 40.25e-6};
  return run;
}

// --passes 2 with --stats: one row that is measured twice, whose passes differ.
Run passes() {
  Run run = stream();
  run.name = "passes";
  run.summary.repeats.reset();
  run.record.options.sweep.passes = 2;
  run.record.planned_rows = 1;
  run.rows[1] = run.rows[0];
  run.rows.push_back(run.rows[0]);
  run.rows[0].pass = 1;
  run.rows[1].pass = 2;
  Row& all = run.rows[2];
  all.passes = 2;
  for (Measurement* cell : {&all.out_of_place, &all.in_place}) {
    cell->pass_spread = 0.125;
    cell->stream->flags.emplace_back("unstable");
  }
  run.summary.rows = 1;
  run.summary.times = 2;
  run.summary.precise_times = 1;
  return run;
}

// Fits of both placements, one in two segments and with a time that stands out, one refused.
Run fits() {
  Run run = stream();
  run.name = "fits";
  run.record.ceiling = Ceiling{48, 5e-6};
  run.record.ceiling_source = "pingpong";
  run.record.notes.push_back({NoteKind::note, "ceiling: 48 GB/s at 1 MiB and 5 us at 8 B"});
  run.rows[0].out_of_place.efficiency = 0.405;
  run.rows[1].out_of_place.efficiency = 0.948;
  run.rows[1].in_place.efficiency = 1.0625;
  run.summary.peak = Peak{1048576, 45.51};
  const Segment small{8, 4096, {2e-6, 1.9e-6, 2.1e-6}, {0, 0, 1e-12}, 0.012};
  const Segment large{8192, 1048576, {88e-6, 8.7e-5, 8.9e-5}, {5e-10, 4.9e-10, 5.1e-10}, 0.034};
  run.summary.fits = {{DataType::float32,
                       ReduceOp::sum,
                       {},
                       "out_of_place",
                       0,
                       {Fit{{small, large}, {{65536, 3.125}}, 0.034}, {}}},
                      {DataType::float32,
                       ReduceOp::sum,
                       {},
                       "in_place",
                       1,
                       {{}, "no line describes them within 15 %"}}};
  return run;
}

// Limits that lie within intervals.
Run undecided() {
  Run run = stream();
  run.name = "undecided";
  run.record.options.output.stats = false;
  run.summary.verdict = Verdict::unreliable;
  run.summary.exit_code = 8;
  run.rows[0].out_of_place.limit = LimitVerdict::kept;
  run.rows[0].in_place.limit = LimitVerdict::undecided;
  run.summary.limits = {
      {.flag = "--max-time",
       .row = "8 B float sum out of place",
       .unit = "us",
       .limit = 3,
       .value = 2,
       .low = 1.5,
       .high = 2.5},
      {.verdict = LimitVerdict::undecided,
       .flag = "--max-time",
       .row = "8 B float sum in place",
       .unit = "us",
       .limit = 3,
       .value = 2,
       .low = 1,
       .high = 4,
       .text = "not decided: 8 B float sum in place: 2.00 us, 1.00 to 4.00, is on both sides of "
               "--max-time 3"}};
  return run;
}

}  // namespace ccl_tests::samples
