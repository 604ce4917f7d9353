// Google Benchmark's JSON (its docs/user_guide.md, "Output Formats"), which its compare.py, github-action-benchmark and Conbench read. A
// cell is an iteration run; its cpu_time, which readers want, repeats real_time. Cells with wrong data are left out: marked as errors, as there, they need a time of 0, which readers
// take for the fastest one.
#include <algorithm>

#include "src/record/field_value.hpp"
#include "src/report/exports/document.hpp"
#include "src/report/reporter.hpp"

namespace ccl_tests {
namespace {

constexpr double microseconds = 1e6;

class GoogleBenchmark : public DocumentFormat {
 public:
  std::string head(const RunInfo& run) override {
    run_ = run;
    const FieldRecord context = {
        {"date", value_of(run.start_time)},
        {"host_name", !run.rank_lines.empty() ? value_of(run.rank_lines.front().host)
                                              : FieldValue(std::string())},
        {"executable", run.program},
        {"caches", std::vector<FieldRecord>()},  // Bencher asks for it
        {"ccl_tests_version", value_of(run.version)},
        {"library", run.backend + " " + run.library_version},
        {"ranks", value_of(run.ranks)},
        {"run_id", value_of(run.run_id)},
    };
    return "{\"context\":" + json_object(context) + ",\n\"benchmarks\":[";
  }

  std::vector<DocumentItem> items(const Row& row) const override {
    std::vector<DocumentItem> all;
    for_each_cell(row, [&](std::string_view placement, const Measurement& cell) {
      if (!is_comparable(cell)) return;
      all.push_back({"\n" + json_object(benchmark(row, placement, cell))});
    });
    return all;
  }
  std::string separator() const override { return ","; }
  std::string tail(const RunSummary* /*summary*/) const override { return "\n]}\n"; }

 private:
  FieldRecord benchmark(const Row& row, std::string_view placement, const Measurement& cell) const {
    const std::string name = benchmark_name(run_, row, placement);
    FieldRecord all = {
        {"name", name},
        {"run_name", name},
        {"run_type", std::string("iteration")},
        {"repetitions", value_of(std::max(run_.options.sweep.cycles, row.cycle + 1))},
        {"repetition_index", value_of(row.cycle)},
        {"threads", value_of(1)}};
    all.push_back({"iterations", value_of(timed_operations(cell, run_.options.measure.aggregate))});
    all.push_back({"real_time", value_of(cell.seconds * microseconds)});
    all.push_back({"cpu_time", value_of(cell.seconds * microseconds)});
    all.push_back({"time_unit", std::string("us")});
    all.push_back({"bytes_per_second", value_of(cell.algbw * 1e9)});
    all.push_back({"busbw_gb_per_s", value_of(cell.busbw)});
    if (cell.stream && cell.stream->low) {
      all.push_back({"time_low_us", value_of(*cell.stream->low * microseconds)});
      all.push_back({"time_high_us", value_of(*cell.stream->high * microseconds)});
    }
    return all;
  }

  RunInfo run_;
};

}  // namespace

std::unique_ptr<Reporter> google_benchmark_reporter(OutputFile file) {
  return document_reporter(std::move(file), std::make_unique<GoogleBenchmark>());
}

}  // namespace ccl_tests
