// RFC 4180 with \n as line end. Every line carries the settings of its run, so that files of many
// runs can be concatenated. Times are in seconds, bandwidths in 1e9 bytes per second; a field is
// empty when its value is not known (not checked, not finite).
#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <string_view>
#include <utility>

#include "src/report/text.hpp"
#include "src/report/writers.hpp"

namespace ccl_tests {
namespace {

struct Field {
  std::string name, value;
};
using Fields = std::vector<Field>;

std::string value(std::string_view text) {
  std::string clean = valid_utf8(text);
  if (clean.find_first_of(",\"\r\n") == std::string::npos) return clean;
  std::string quoted = "\"";
  for (const char c : clean) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}
std::string value(bool flag) { return flag ? "true" : "false"; }
std::string value(std::integral auto number) { return fmt::format("{}", number); }
std::string value(double number) { return std::isfinite(number) ? fmt::format("{}", number) : ""; }

Fields run_fields(const RunInfo& run) {
  return {{"program", value(run.program)},
          {"mode", value(run.mode)},
          {"version", value(run.version)},
          {"backend", value(run.backend)},
          {"library_version", value(run.library_version)},
          {"library_file", value(run.library_file)},
          {"start_time", value(run.start_time)},
          {"launcher", value(run.launcher)},
          {"ranks", value(run.ranks)},
          {"processes", value(run.processes)},
          {"threads", value(run.threads)},
          {"ranks_per_thread", value(run.ranks_per_thread)},
          {"warmup", value(run.warmup)},
          {"iterations", value(run.iterations)},
          {"aggregate", value(run.aggregate)},
          {"check", value(run.check)},
          {"average", value(run.average)},
          {"blocking", value(run.blocking)},
          {"unalign_elements", value(run.unalign)},
          {"graph_launches", value(run.graph_launches)},
          {"clock", run.cpu_time ? "cpu" : "wall"},
          {"seed", value(run.seed)},
          {"cpus_allowed", value(run.cpus_allowed)}};
}

Fields half_fields(const std::string& placement, const Measurement& cell) {
  const Statistics* const of = cell.per_iteration ? &cell.per_iteration->of : nullptr;
  return {{placement + "_time_s", value(cell.seconds)},
          {placement + "_min_time_s", value(cell.min_seconds)},
          {placement + "_max_time_s", value(cell.max_seconds)},
          {placement + "_algbw_gb_per_s", value(cell.algbw)},
          {placement + "_busbw_gb_per_s", value(cell.busbw)},
          {placement + "_messages_per_s", cell.messages_per_s ? value(*cell.messages_per_s) : ""},
          {placement + "_sizes_s", cell.steps ? value(cell.steps->sizes_s) : ""},
          {placement + "_payload_s", cell.steps ? value(cell.steps->payload_s) : ""},
          {placement + "_packing_s", cell.steps ? value(cell.steps->packing_s) : ""},
          {placement + "_iteration_min_s", of ? value(of->min) : ""},
          {placement + "_iteration_max_s", of ? value(of->max) : ""},
          {placement + "_iteration_p50_s", of ? value(of->p50) : ""},
          {placement + "_iteration_p95_s", of ? value(of->p95) : ""},
          {placement + "_iteration_p99_s", of ? value(of->p99) : ""},
          {placement + "_iteration_stdev_s", of ? value(of->stdev) : ""},
          {placement + "_wrong", cell.wrong ? value(*cell.wrong) : ""},
          {placement + "_iterations", value(cell.iterations)},
          {placement + "_calls", value(cell.calls)},
          {placement + "_verified_calls", value(cell.verified_calls)},
          {placement + "_repeats_out_of_place", value(cell.repeats_out_of_place)}};
}

Fields row_fields(const Row& row) {
  Fields fields = {{"cycle", value(row.cycle)},
                   {"timestamp", value(row.timestamp)},
                   {"size_bytes", value(row.bytes)},
                   {"count", value(row.count)},
                   {"datatype", value(row.type)},
                   {"op", value(row.op)},
                   {"root", value(row.root)},
                   {"bus_factor", value(row.bus_factor)},
                   {"emulated", value(row.emulated)},
                   {"coverage", value(row.coverage)},
                   {"group", row.group ? value(*row.group) : ""},
                   {"pair", row.pair ? name(*row.pair) : ""},
                   {"algorithm", value(row.algorithm)},
                   {"padding_waste", row.padding_waste ? value(*row.padding_waste) : ""}};
  for (Field& field : half_fields("out_of_place", row.out_of_place)) fields.push_back(field);
  for (Field& field : half_fields("in_place", row.in_place)) fields.push_back(field);
  return fields;
}

std::string joined(const Fields& fields, std::string Field::*part) {
  std::string line;
  for (const Field& field : fields) line += field.*part + ",";
  line.pop_back();
  return line;
}

class Csv : public Reporter {
 public:
  explicit Csv(OutputFile file) : file_(std::move(file)) {}

  void begin(const RunInfo& run) override {
    const Fields fields = run_fields(run);
    run_ = joined(fields, &Field::value);
    file_.append(joined(fields, &Field::name) + "," + joined(row_fields(Row()), &Field::name) +
                 "\n");
  }

  void row(const Row& row) override {
    file_.append(run_ + "," + joined(row_fields(row), &Field::value) + "\n");
  }

  void end(const RunSummary& /*summary*/) override { file_.close(); }

 private:
  OutputFile file_;
  std::string run_;  // the run's part of every line
};

}  // namespace

std::unique_ptr<Reporter> csv_reporter(OutputFile file) {
  return std::make_unique<Csv>(std::move(file));
}

}  // namespace ccl_tests
