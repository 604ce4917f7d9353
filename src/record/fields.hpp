// The one list of what results files hold. A line here is a key of JSON Lines, a column of CSV and
// a member that read_runs() sets. Times are in seconds, bandwidths in 1e9 bytes per second.
// visit(name, member), visit.part(optional, each), visit.list(name, members) and
// visit.derived(name, value) are called in the order of the columns.
#pragma once

#include <concepts>
#include <string_view>
#include <type_traits>

#include "src/record/record.hpp"

namespace ccl_tests {

template <class T, class Record>
concept IsA = std::same_as<std::remove_const_t<T>, Record>;

// Lists that are as long as a measurement, and lists of records: JSON Lines alone have them.
constexpr bool only_in_json_lines(std::string_view name) {
  return name == "stamps_s" || name == "rank_stamps_s" || name == "iteration_processes" ||
         name == "process_iteration_times_s" || name == "mismatches";
}

template <IsA<RankLine> R, class V>
void fields(R& line, V&& visit) {
  visit("rank", line.rank);
  visit("group", line.group);
  visit("pid", line.pid);
  visit("host", line.host);
  visit("device", line.device);
  visit("device_name", line.device_name);
  visit("bus_id", line.bus_id);
}

template <IsA<Note> R, class V>
void fields(R& note, V&& visit) {
  visit("kind", note.kind);
  visit("text", note.text);
  visit("remedy", note.remedy);
}

template <IsA<Mismatch> R, class V>
void fields(R& mismatch, V&& visit) {
  visit("rank", mismatch.rank);
  visit("host", mismatch.host);
  visit("group", mismatch.group);
  visit("group_rank", mismatch.group_rank);
  visit("wrong", mismatch.wrong);
  visit("first", mismatch.first);
  visit("last", mismatch.last);
  visit("explanation", mismatch.explanation);
}

template <IsA<StandOut> R, class V>
void fields(R& time, V&& visit) {
  visit("bytes", time.bytes);
  visit("ratio", time.ratio);
}

template <IsA<Segment> R, class V>
void fields(R& segment, V&& visit) {
  visit("first_bytes", segment.first_bytes);
  visit("last_bytes", segment.last_bytes);
  visit("alpha_s", segment.alpha.value);
  visit("alpha_low_s", segment.alpha.low);
  visit("alpha_high_s", segment.alpha.high);
  visit("beta_s_per_byte", segment.beta.value);
  visit("beta_low_s_per_byte", segment.beta.low);
  visit("beta_high_s_per_byte", segment.beta.high);
  visit.derived("gb_per_s",
                segment.beta.value > 0 ? std::optional(1e-9 / segment.beta.value) : std::nullopt);
  visit.derived("half_bandwidth_bytes", segment.half_bandwidth_bytes());
  visit("largest_error", segment.largest_error);
}

template <IsA<LimitFinding> R, class V>
void fields(R& limit, V&& visit) {
  visit("verdict", limit.verdict);
  visit("flag", limit.flag);
  visit("row", limit.row);
  visit("unit", limit.unit);
  visit("limit", limit.limit);
  visit("value", limit.value);
  visit("low", limit.low);
  visit("high", limit.high);
  visit("text", limit.text);
}

template <IsA<SweepFit> R, class V>
void fields(R& sweep, V&& visit) {
  visit("datatype", sweep.type);
  visit("op", sweep.op);
  visit("root", sweep.root);
  visit("placement", sweep.placement);
  visit("left_out", sweep.left_out);
  visit("refusal", sweep.result.refusal);
  visit.part(sweep.result.fit, [&](auto& fit) {
    visit("largest_error", fit.largest_error);
    visit.list("segments", fit.segments);
    visit.list("above", fit.above);
  });
}

// Visits the run's fields on every row of JSON Lines and CSV: what tells runs apart that are
// compared.
template <IsA<RunInfo> R, class V>
void identity_fields(R& run, V&& visit) {
  visit("run_id", run.run_id);
  visit("program", run.program);
  visit("mode", run.mode);
  visit("version", run.version);
  visit("backend", run.backend);
  visit("library_version", run.library_version);
  visit("ranks", run.ranks);
  visit("processes", run.processes);
  visit("launcher", run.launcher);
  visit("clock", run.clock);
  visit("start_time", run.start_time);
}

// Visits the run's fields on every row of CSV, which has no header to hold them.
template <IsA<RunInfo> R, class V>
void setting_fields(R& run, V&& visit) {
  visit("label", run.options.output.label);
  visit("library_file", run.library_file);
  visit("threads", run.threads);
  visit("ranks_per_thread", run.ranks_per_thread);
  visit("warmup", run.options.measure.warmup);
  visit("requested_iterations", run.options.measure.iterations);
  visit("precision", run.precision);
  visit("sample_mode", run.options.measure.samples);
  visit("aggregate", run.options.measure.aggregate);
  visit("check", run.options.check.calls);
  visit("check_all", run.options.check.all);
  visit("average", run.options.measure.average);
  visit("blocking", run.options.measure.blocking);
  visit("unalign_elements", run.options.sweep.unalign);
  visit("cache", run.cache);
  visit("cache_footprint_bytes", run.cache_footprint);
  visit("graph_launches", run.options.measure.graph_launches);
  visit("seed", run.options.check.seed);
  visit("cpus_allowed", run.cpus_allowed);
  visit("oversubscribed", run.oversubscribed);
  visit("clock_cost_s", run.clock_cost);
  visit("clock_resolution_s", run.clock_resolution);
  visit("core_to_core_s", run.core_to_core);
}

template <IsA<RunInfo> R, class V>
void fields(R& run, V&& visit) {
  identity_fields(run, visit);
  setting_fields(run, visit);
  visit("placement", run.placement);
  visit("arguments", run.arguments);
  visit("environment", run.environment);
  visit("rank_differences", run.rank_differences);
  visit("settings", run.settings);
  visit("min_bytes", run.min_bytes);
  visit("max_bytes", run.max_bytes);
  visit("step_bytes", run.options.sweep.step_bytes);
  visit("step_factor", run.options.sweep.step_factor);
  visit("sizes_bytes", run.options.sweep.sizes);
  visit("reduced_max_bytes", run.reduced_max);
  visit("planned_rows", run.planned_rows);
  visit("cycles", run.options.sweep.cycles);
  visit("passes", run.options.sweep.passes);
  visit("parallel_init", run.options.job.parallel_init);
  visit("per_iteration", run.options.measure.per_iteration);
  visit("per_iteration_skip", run.options.measure.per_iteration_skip);
  visit("timestamps", run.options.output.timestamps);
  visit("group_rows", run.options.sweep.group_rows);
  visit("pair_rows", run.pair_rows);
  visit.part(run.ceiling, [&](auto& ceiling) {
    visit("ceiling_gb_per_s", ceiling.gb_per_s);
    visit("ceiling_latency_s", ceiling.latency_s);
  });
  visit("ceiling_source", run.ceiling_source);
  visit.list("notes", run.notes);
  visit.list("rank_lines", run.rank_lines);
}

// Visits a row's fields that are the same for both placements.
template <IsA<Row> R, class V>
void fields(R& row, V&& visit) {
  visit("cycle", row.cycle);
  visit("pass", row.pass);
  visit("passes", row.passes);
  visit("moments", row.moments);
  visit("timestamp", row.timestamp);
  visit("size_bytes", row.bytes);
  visit("count", row.count);
  visit("datatype", row.type);
  visit("op", row.op);
  visit("root", row.root);
  visit("group", row.group);
  visit("pair", row.pair);
  visit("hosts", row.hosts);
  visit("bus_factor", row.bus_factor);
  visit("emulated", row.emulated);
  visit("arithmetic", row.arithmetic);
  visit("coverage", row.coverage);
  visit("algorithm", row.algorithm);
  visit("data_kind", row.data);
  visit("observed", row.observed);
  visit("padding_waste", row.padding_waste);
  visit("expert_load", row.expert_load);
  visit("rank_load", row.rank_load);
  visit("wire_bytes", row.wire_bytes);
  visit.part(row.reproduction, [&](auto& found) {
    visit("reproducibility", found.verdict);
    visit("varies_between", found.varies_between);
    visit("reproduction_calls", found.calls);
    visit("digest", found.digest);
    visit("compared_with", found.compared_with);
    visit("known_digest", found.known_digest);
    visit("difference_rank", found.difference_rank);
    visit("difference_index", found.difference_index);
    visit("difference_ulps", found.difference_ulps);
    visit("difference", found.difference);
  });
  visit.part(row.beside, [&](auto& found) {
    visit("beside", found.load);
    visit("beside_time_ratio", found.time.value);
    visit("beside_time_ratio_low", found.time.low);
    visit("beside_time_ratio_high", found.time.high);
    visit("beside_work_ratio", found.work.value);
    visit("beside_work_ratio_low", found.work.low);
    visit("beside_work_ratio_high", found.work.high);
    visit("beside_work_per_s", found.work_per_s);
    visit("beside_rounds", found.rounds);
  });
}

template <IsA<Measurement> R, class V>
void fields(R& cell, V&& visit) {
  visit("time_s", cell.seconds);
  visit("min_time_s", cell.min_seconds);
  visit("max_time_s", cell.max_seconds);
  visit("algbw_gb_per_s", cell.algbw);
  visit("busbw_gb_per_s", cell.busbw);
  visit("efficiency", cell.efficiency);
  visit("messages_per_s", cell.messages_per_s);
  visit.part(cell.steps, [&](auto& steps) {
    visit("sizes_s", steps.sizes_s);
    visit("payload_s", steps.payload_s);
    visit("packing_s", steps.packing_s);
  });
  visit.part(cell.per_iteration, [&](auto& times) {
    visit("skipped_iterations", times.skipped);
    visit("iteration_min_s", times.of.min);
    visit("iteration_max_s", times.of.max);
    visit("iteration_mean_s", times.of.mean);
    visit("iteration_p50_s", times.of.p50);
    visit("iteration_p95_s", times.of.p95);
    visit("iteration_p99_s", times.of.p99);
    visit("iteration_stdev_s", times.of.stdev);
    visit("iteration_times_s", times.seconds);
    visit("iteration_processes", times.processes);
    visit("process_iteration_times_s", times.process_seconds);
  });
  visit.part(cell.stream, [&](auto& stream) {
    visit("time_low_s", stream.low);
    visit("time_high_s", stream.high);
    visit("confidence", stream.confidence);
    visit("mean_s", stream.mean);
    visit("median_s", stream.median);
    visit("fast_s", stream.fast);
    visit("slow_s", stream.slow);
    visit("stamps", stream.stamps);
    visit("calls_per_stamp", stream.calls_per_stamp);
    visit("precision_reached", stream.precision_reached);
    visit("flags", stream.flags);
    visit("stamps_s", stream.seconds);
    visit("rank_stamps_s", stream.rank_seconds);
  });
  visit.part(cell.samples, [&](auto& samples) {
    visit.derived("samples", cell.stream ? cell.stream->stamps : 0);
    visit.derived("operations_per_sample", cell.stream ? cell.stream->calls_per_stamp : 0);
    visit("clock_error_s", samples.clock_error);
    visit("bracket_low_s", samples.bracket_low);
    visit("bracket_high_s", samples.bracket_high);
    visit("skew_s", samples.skew);
    visit("skew_p99_s", samples.skew_p99);
    visit("skew_share", samples.skew_share);
    visit("sample_ranks", samples.ranks);
    visit("late_share", samples.late_share);
    visit("slow_share", samples.slow_share);
    visit("late_s", samples.late_s);
  });
  visit("pass_spread", cell.pass_spread);
  visit.part(cell.evidence, [&](auto& events) {
    visit("page_faults", events.minor_faults);
    visit("major_page_faults", events.major_faults);
    visit("preempted", events.preempted);
    visit("yielded", events.yielded);
    visit("steal_s", events.steal_s);
  });
  visit("wrong", cell.wrong);
  visit("failed_ranks", cell.failed_ranks);
  visit("iterations", cell.iterations);
  visit("calls", cell.calls);
  visit("verified_calls", cell.verified_calls);
  visit("repeats_out_of_place", cell.repeats_out_of_place);
  visit("moment_times_s", cell.moment_seconds);
  visit("limit", cell.limit);
  visit.list("mismatches", cell.mismatches);
}

template <IsA<RunSummary> R, class V>
void fields(R& summary, V&& visit) {
  visit("verdict", summary.verdict);
  visit("complete", summary.complete);
  visit("exit_code", summary.exit_code);
  visit("failure", summary.failure);
  visit("errors", summary.errors);
  visit("rows", summary.rows);
  visit("wrong_rows", summary.wrong_rows);
  visit("failed_checks", summary.failed_checks);
  visit("wrong_elements", summary.wrong_elements);
  visit("calls", summary.calls);
  visit("verified_calls", summary.verified_calls);
  visit.derived("verified_share", summary.calls > 0
                                      ? std::optional(static_cast<double>(summary.verified_calls) /
                                                      static_cast<double>(summary.calls))
                                      : std::nullopt);
  visit("times", summary.times);
  visit("precise_times", summary.precise_times);
  visit("widest_half_width", summary.widest);
  visit("widest_row", summary.widest_row);
  visit("usual_half_width", summary.usual_width);
  visit("unusual_times", summary.unusual_times);
  visit("wide_times", summary.wide_times);
  visit("unbounded_times", summary.unbounded_times);
  visit("stolen_times", summary.stolen_times);
  visit.part(summary.repeats, [&](auto& repeats) {
    visit("repeated_times", repeats.times);
    visit("repeat_difference", repeats.difference);
    visit("repeat_largest_difference", repeats.largest);
    visit("repeat_after_s", repeats.after_s);
    visit.derived("repeat_half_width", std::optional(repeats.half_width()));
  });
  visit.part(summary.soak, [&](auto& soak) {
    visit("soak_s", soak.seconds);
    visit("soak_cycles", soak.cycles);
    visit("soak_memory_rank", soak.rank);
    visit("soak_memory_first_bytes", soak.first_bytes);
    visit("soak_memory_last_bytes", soak.last_bytes);
  });
  visit("wire", summary.wire);
  visit.part(summary.late_rank, [&](auto& late) {
    visit("late_rank", late.rank);
    visit("late_rank_host", late.host);
    visit("late_rank_share", late.share);
    visit("late_rank_samples", late.samples);
    visit("late_rank_s", late.late_s);
  });
  visit.part(summary.reproduction, [&](auto& found) {
    visit("order_independent_rows", found.order_independent);
    visit("stable_rows", found.stable);
    visit("varying_rows", found.varying);
    visit("first_varying", found.first_varying);
    visit("compared_rows", found.compared);
    visit("digests_file", found.digests);
  });
  visit("first_wrong", summary.first_wrong);
  visit("rerun", summary.rerun);
  visit("average_busbw_gb_per_s", summary.average_busbw);
  visit("bandwidth_ok", summary.bandwidth_ok);
  visit.list("limits", summary.limits);
  visit.derived("missed_limits", limit_lines(summary.limits, LimitVerdict::missed));
  visit.derived("undecided_limits", limit_lines(summary.limits, LimitVerdict::undecided));
  visit("core_to_core_s", summary.core_to_core);
  visit.part(summary.cpu_use, [&](auto& use) {
    visit("cpus", use.cpus);
    visit("others_cpus", use.others);
    visit("idle_cpus", use.idle);
  });
  visit.part(summary.peak, [&](auto& peak) {
    visit("peak_bytes", peak.bytes);
    visit("peak_busbw_gb_per_s", peak.busbw);
  });
  visit.list("fits", summary.fits);
  visit("memory", summary.memory);
  visit("notes", summary.notes);
  visit("end_time", summary.end_time);
}

}  // namespace ccl_tests
