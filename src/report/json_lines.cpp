// Times are in seconds, bandwidths in 1e9 bytes per second; null stands for what is not known (not
// checked, not asked for, not finite). "clock" says what "time_s" is, min and max are wall time.
#include <nlohmann/json.hpp>
#include <utility>

#include "src/report/writers.hpp"

namespace ccl_tests {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema_version = 1;

Json or_null(const auto& optional) { return optional ? Json(*optional) : Json(nullptr); }

Json rank_line(const RankLine& line) {
  return {{"rank", line.rank},    {"group", line.group},   {"pid", line.pid},
          {"host", line.host},    {"device", line.device}, {"device_name", line.device_name},
          {"bus_id", line.bus_id}};
}

Json header(const RunInfo& run) {
  Json environment = Json::object();
  for (const auto& [name, value] : run.environment) environment[name] = value;
  Json ranks = Json::array();
  for (const RankLine& line : run.rank_lines) ranks.push_back(rank_line(line));
  return {{"type", "header"},
          {"schema_version", schema_version},
          {"program", run.program},
          {"mode", run.mode},
          {"version", run.version},
          {"backend", run.backend},
          {"library_version", run.library_version},
          {"library_file", run.library_file},
          {"start_time", run.start_time},
          {"arguments", run.arguments},
          {"environment", environment},
          {"launcher", run.launcher},
          {"threads", run.threads},
          {"ranks_per_thread", run.ranks_per_thread},
          {"processes", run.processes},
          {"ranks", run.ranks},
          {"min_bytes", run.min_bytes},
          {"max_bytes", run.max_bytes},
          {"step_bytes", run.step_bytes},
          {"step_factor", run.step_factor},
          {"sizes_bytes", run.sizes},
          {"reduced_max_bytes", or_null(run.reduced_max)},
          {"warmup", run.warmup},
          {"iterations", run.iterations},
          {"aggregate", run.aggregate},
          {"check", run.check},
          {"average", run.average},
          {"blocking", run.blocking},
          {"cycles", run.cycles},
          {"unalign_elements", run.unalign},
          {"parallel_init", run.parallel_init},
          {"graph_launches", run.graph_launches},
          {"per_iteration", run.per_iteration},
          {"clock", run.cpu_time ? "cpu" : "wall"},
          {"timestamps", run.timestamps},
          {"seed", run.seed},
          {"cpus_allowed", run.cpus_allowed},
          {"notes", run.notes},
          {"rank_lines", ranks}};
}

Json steps(const Measurement& cell) {
  if (!cell.steps) return nullptr;
  return {{"sizes_s", cell.steps->sizes_s},
          {"payload_s", cell.steps->payload_s},
          {"packing_s", cell.steps->packing_s}};
}

Json per_iteration(const Measurement& cell) {
  if (!cell.per_iteration) return nullptr;
  const Statistics& of = cell.per_iteration->of;
  return {{"skipped", cell.per_iteration->skipped},
          {"min_s", of.min},
          {"max_s", of.max},
          {"mean_s", of.mean},
          {"p50_s", of.p50},
          {"p95_s", of.p95},
          {"p99_s", of.p99},
          {"stdev_s", of.stdev},
          {"times_s", cell.per_iteration->seconds}};
}

Json half(const Measurement& cell) {
  return {{"time_s", cell.seconds},
          {"min_time_s", cell.min_seconds},
          {"max_time_s", cell.max_seconds},
          {"algbw_gb_per_s", cell.algbw},
          {"busbw_gb_per_s", cell.busbw},
          {"messages_per_s", or_null(cell.messages_per_s)},
          {"steps", steps(cell)},
          {"per_iteration", per_iteration(cell)},
          {"wrong", or_null(cell.wrong)},
          {"iterations", cell.iterations},
          {"calls", cell.calls},
          {"verified_calls", cell.verified_calls},
          {"repeats_out_of_place", cell.repeats_out_of_place}};
}

Json line(const Row& row) {
  return {{"type", "row"},
          {"size_bytes", row.bytes},
          {"count", row.count},
          {"datatype", row.type},
          {"op", row.op},
          {"root", row.root},
          {"bus_factor", row.bus_factor},
          {"emulated", row.emulated},
          {"coverage", row.coverage},
          {"cycle", row.cycle},
          {"group", or_null(row.group)},
          {"pair", or_null(row.pair)},
          {"padding_waste", or_null(row.padding_waste)},
          {"algorithm", row.algorithm},
          {"timestamp", row.timestamp},
          {"out_of_place", half(row.out_of_place)},
          {"in_place", half(row.in_place)}};
}

Json footer(const RunSummary& summary) {
  return {{"type", "footer"},
          {"complete", summary.complete},
          {"exit_code", summary.exit_code},
          {"failed_checks", summary.failed_checks},
          {"average_busbw_gb_per_s", summary.average_busbw},
          {"bandwidth_ok", or_null(summary.bandwidth_ok)},
          {"calls", summary.calls},
          {"verified_calls", summary.verified_calls},
          {"memory", summary.memory},
          {"notes", summary.notes},
          {"errors", summary.errors},
          {"end_time", summary.end_time}};
}

class JsonLines : public Reporter {
 public:
  explicit JsonLines(OutputFile file) : file_(std::move(file)) {}

  void begin(const RunInfo& run) override { write(header(run)); }
  void row(const Row& row) override { write(line(row)); }
  void end(const RunSummary& summary) override {
    write(footer(summary));
    file_.close();
  }

 private:
  void write(const Json& object) {
    file_.append(object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  OutputFile file_;
};

}  // namespace

std::unique_ptr<Reporter> json_lines_reporter(OutputFile file) {
  return std::make_unique<JsonLines>(std::move(file));
}

}  // namespace ccl_tests
