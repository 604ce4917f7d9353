// The JSON files of benchmarks that other tools read. Cells with wrong data are left out of both: their times are of something else.
#include <algorithm>

#include "src/record/field_value.hpp"
#include "src/report/exports/document.hpp"
#include "src/report/reporter.hpp"

namespace ccl_tests {
namespace {

constexpr double microseconds = 1e6;
constexpr double nanoseconds = 1e9;

// A document of one JSON value for each cell.
class BenchmarkJson : public DocumentFormat {
 public:
  std::vector<DocumentItem> items(const Row& row) const override {
    std::vector<DocumentItem> all;
    for_each_cell(row, [&](bool in_place, const Measurement& cell) {
      if (is_timed(cell) && cell.wrong.value_or(0) == 0) all.push_back(item(row, in_place, cell));
    });
    return all;
  }
  std::string separator() const override { return ","; }

 protected:
  virtual DocumentItem item(const Row& row, bool in_place, const Measurement& cell) const = 0;
};

// Google Benchmark's JSON (its docs/user_guide.md, "Output Formats"), which its compare.py, github-action-benchmark and Conbench read. A
// cell is an iteration run. Its cpu_time, which readers want, repeats real_time. An error, as there, would need a time of 0, which
// readers take for the fastest one.
class GoogleBenchmark : public BenchmarkJson {
  std::string head() const override {
    const FieldRecord context = {
        {"date", value_of(run.start_time)},
        {"host_name", !run.rank_lines.empty() ? value_of(run.rank_lines.front().host)
                                              : FieldValue(std::string())},
        {"executable", run.program},
        {"caches", std::vector<FieldRecord>()},  // Bencher asks for it
        {"ccl_tests_version", value_of(run.version)},
        {"library", run.backend + " " + run.library_version},
        {"ranks", run.ranks},
        {"run_id", value_of(run.run_id)},
    };
    return "{\"context\":" + json_object(context) + ",\n\"benchmarks\":[";
  }
  DocumentItem item(const Row& row, bool in_place, const Measurement& cell) const override {
    const std::string name = benchmark_name(run, row, in_place);
    FieldRecord all = {{"name", name},
                       {"run_name", name},
                       {"run_type", "iteration"},
                       {"repetitions", std::max(run.options.sweep.cycles, row.cycle + 1)},
                       {"repetition_index", row.cycle},
                       {"threads", 1},
                       {"iterations", timed_operations(cell, run.options.measure.aggregate)},
                       {"real_time", value_of(cell.seconds * microseconds)},
                       {"cpu_time", value_of(cell.seconds * microseconds)},
                       {"time_unit", "us"},
                       {"bytes_per_second", value_of(cell.algbw * 1e9)},
                       {"busbw_gb_per_s", value_of(cell.busbw)}};
    if (cell.stream && cell.stream->low) {
      all["time_low_us"] = value_of(*cell.stream->low * microseconds);
      all["time_high_us"] = value_of(*cell.stream->high * microseconds);
    }
    return {"\n" + json_object(all)};
  }
  std::string tail(const RunSummary* /*summary*/) const override { return "\n]}\n"; }
};

// Bencher Metric Format (bencher.dev, "Bencher Metric Format (BMF)"): latency in nanoseconds with the interval of the time, and the bus
// bandwidth. Of cells with one name (cycles, sizes that are rounded down to the same) the first one counts.
class Bencher : public BenchmarkJson {
  std::string head() const override { return "{"; }
  DocumentItem item(const Row& row, bool in_place, const Measurement& cell) const override {
    FieldRecord latency = {{"value", value_of(cell.seconds * nanoseconds)}};
    if (cell.stream && cell.stream->low) {
      latency["lower_value"] = value_of(*cell.stream->low * nanoseconds);
      latency["upper_value"] = value_of(*cell.stream->high * nanoseconds);
    }
    FieldRecord measures = {{"latency", std::move(latency)}};
    if (cell.busbw > 0) measures["bus-bandwidth"]["value"] = value_of(cell.busbw);
    const std::string name = benchmark_name(run, row, in_place);
    // One member of the document, without the braces around it.
    const std::string object = json_object({{name, std::move(measures)}});
    return {"\n" + object.substr(1, object.size() - 2), name};
  }
  std::string tail(const RunSummary* /*summary*/) const override { return "\n}\n"; }
};

}  // namespace

std::unique_ptr<Reporter> google_benchmark_reporter(OutputFile file) {
  return document_reporter(std::move(file), std::make_unique<GoogleBenchmark>());
}

std::unique_ptr<Reporter> bencher_reporter(OutputFile file) {
  return document_reporter(std::move(file), std::make_unique<Bencher>());
}

}  // namespace ccl_tests
