// The schema is nccl-tests' (src/util.cu, JSON_FILE_VERSION 3), oddities included: booleans are the
// strings "true" and "false", root is a padded string, times are microseconds. Unlike there, all
// ranks are in "devices" and doubles keep all their digits (null when not finite).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include "src/record/field_value.hpp"
#include "src/record/quantity_text.hpp"
#include "src/report/exports/document.hpp"

namespace ccl_tests {
namespace {

using Json = FieldValue;

Json flag(bool value) { return value ? "true" : "false"; }

// NCCL_VERSION_CODE of "2.30.7"; 0 when the library under test is not NCCL.
int nccl_version(const RunInfo& run) {
  int major = 0, minor = 0, patch = 0;
  if (run.backend != "nccl" ||
      std::sscanf(run.library_version.c_str(), "%d.%d.%d", &major, &minor, &patch) != 3) {
    return 0;
  }
  return major <= 2 && minor <= 8 ? major * 1000 + minor * 100 + patch
                                  : major * 10000 + minor * 100 + patch;
}

// nccl-tests lists one rank of each process, and readers take the n-th one for process n: these
// stand before the others.
std::vector<RankLine> by_process(const RunInfo& run) {
  std::vector<RankLine> lines = run.rank_lines;
  const int ranks = std::max(1, static_cast<int>(lines.size()) / run.processes);  // of a process
  std::stable_partition(lines.begin(), lines.end(),
                        [&](const RankLine& line) { return line.rank % ranks == 0; });
  return lines;
}

Json devices(const RunInfo& run) {
  Json list = Json::array();
  for (const RankLine& line : by_process(run)) {
    list.push_back({{"rank", line.rank},
                    {"group", line.group},
                    {"pid", line.pid},
                    {"hostname", line.host},
                    {"device", line.device},
                    {"device_hex", line.bus_id.empty() ? "cpu" : line.bus_id},
                    {"device_info", line.device_name}});
  }
  return list;
}

Json config(const RunInfo& run) {
  const Options& o = run.options;
  Json json = {{"nthreads", run.threads},
               {"ngpus", run.ranks_per_thread},
               {"minimum_bytes", run.min_bytes},
               {"maximum_bytes", run.max_bytes}};
  if (o.sweep.step_factor > 1)
    json["step_factor"] = o.sweep.step_factor;
  else
    json["step_bytes"] = o.sweep.step_bytes;
  json["warmup_iters"] = o.measure.warmup;
  json["iterations"] = o.measure.iterations;
  json["aggregated_iterations"] = o.measure.aggregate;
  json["validation"] = o.check.calls;
  json["graph"] = o.measure.graph_launches;
  json["blocking_collectives"] = flag(o.measure.blocking != 0);
  json["per_iter_timing"] = flag(o.measure.per_iteration);
  json["per_iter_skip"] = o.measure.per_iteration_skip;
  json["parallel_init"] = flag(o.job.parallel_init);
  json["devices"] = devices(run);
  return json;
}

Json half(const Measurement& cell, bool cpu_time) {
  return {{cpu_time ? "cpu_time" : "time", cell.seconds * 1e6},
          {"alg_bw", cell.algbw},
          {"bus_bw", cell.busbw},
          {"nwrong", cell.wrong ? Json(*cell.wrong) : Json(nullptr)}};
}

Json in_microseconds(std::span<const double> seconds) {
  Json all = Json::array();
  for (const double time : seconds) all.push_back(time * 1e6);
  return all;
}

// Readers take a list's place for its process's number: processes have lists if all of the job's
// are in the row, and there is more than one.
Json per_iteration(const IterationTimes& times, int processes) {
  const Statistics& of = times.of;
  Json json = {{"skipped_iterations", times.skipped},
               {"min_us", of.min * 1e6},
               {"max_us", of.max * 1e6},
               {"avg_us", of.mean * 1e6},
               {"p50_us", of.p50 * 1e6},
               {"p95_us", of.p95 * 1e6},
               {"p99_us", of.p99 * 1e6},
               {"stdev_us", of.stdev * 1e6},
               {"cv_pct", of.mean > 0 ? of.stdev / of.mean * 100 : 0},
               {"times_us", in_microseconds(times.seconds)}};
  const std::size_t each = times.seconds.size();
  if (times.processes.size() != static_cast<std::size_t>(processes) || each == 0) return json;
  const std::span<const double> all(times.process_seconds);
  Json& lists = json["per_process_max_times_us"] = Json::array();
  for (std::size_t at = 0; at < all.size(); at += each)
    lists.push_back(in_microseconds(all.subspan(at, each)));
  return json;
}

class NcclJson : public DocumentFormat {
 public:
  // Returns everything up to the first row; an object that is still open.
  std::string head() const override {
    std::vector<std::string> argv = run.arguments;
    argv.insert(argv.begin(), run.program);
    const Json json = {{"version", 3},
                       {"start_time", seconds_form(run.start_time)},
                       {"args", argv},
                       {"env", run.environment},
                       {"nccl_version", nccl_version(run)},
                       {"config", config(run)}};
    std::string open = json_object(json);
    open.pop_back();
    return open + ",\"results\":[";
  }

  std::vector<DocumentItem> items(const Row& row) const override {
    Json json = {{"size", row.bytes},
                 {"count", row.count},
                 {"type", name(row.type)},
                 {"redop", row.op ? name(*row.op) : "none"},
                 {"root", fmt::format("{:6}", row.root.value_or(-1))}};
    add_half(json, "out_of_place", row.out_of_place);
    add_half(json, "in_place", row.in_place);
    json["actual_iterations"] = row.first_measured().iterations;
    json["experiment_name"] = row.pair    ? "pair " + name(*row.pair)
                              : row.group ? fmt::format("group {}", *row.group)
                                          : "";
    return {{"\n" + json_object(json)}};
  }

  std::string separator() const override { return ","; }

  std::string tail(const RunSummary* summary) const override {
    if (summary == nullptr)
      return "\n],\"out_of_bounds\":{\"count\":0,\"okay\":\"false\"},"
             "\"errors\":[\"the run did not reach its end\"]}\n";
    const Json okay = summary->bandwidth_ok ? flag(*summary->bandwidth_ok) : Json("unchecked");
    const bool right = summary->complete && summary->failed_checks == 0;
    std::vector<std::string> errors = summary->errors;
    if (!summary->complete && errors.empty()) errors = {summary->failure};
    if (summary->verdict == Verdict::varies)
      errors.push_back("bits vary: " + summary->reproduction->first_varying);
    const Json json = {
        {"out_of_bounds", {{"count", summary->failed_checks}, {"okay", flag(right)}}},
        {"average_bus_bandwidth", {{"bandwidth", summary->average_busbw}, {"okay", okay}}},
        {"errors", errors},
        {"end_time", seconds_form(summary->end_time)}};
    return "\n]," + json_object(json).substr(1) + "\n";
  }

 private:
  void add_half(Json& json, const std::string& name, const Measurement& cell) const {
    json[name] = cell.left_out ? Json(nullptr) : half(cell, run.clock == "cpu");
    if (cell.per_iteration)
      json[name + "_per_iter"] = per_iteration(*cell.per_iteration, run.processes);
  }
};

}  // namespace

std::unique_ptr<Reporter> nccl_json_reporter(OutputFile file) {
  return document_reporter(std::move(file), std::make_unique<NcclJson>());
}

}  // namespace ccl_tests
