// Bencher Metric Format (bencher.dev, "Bencher Metric Format (BMF)"): latency in nanoseconds with the interval of the time, and the bus
// bandwidth. Cells with wrong data are left out: their times are of something else. Of cells with one name (cycles, sizes that are rounded
// down to the same) the first one counts.
#include "src/record/field_value.hpp"
#include "src/report/exports/document.hpp"
#include "src/report/reporter.hpp"

namespace ccl_tests {
namespace {

constexpr double nanoseconds = 1e9;

class Bencher : public DocumentFormat {
 public:
  std::string head(const RunInfo& run) override {
    run_ = run;
    return "{";
  }

  std::vector<DocumentItem> items(const Row& row) const override {
    std::vector<DocumentItem> all;
    for_each_cell(row, [&](std::string_view placement, const Measurement& cell) {
      if (!is_comparable(cell)) return;
      FieldRecord latency = {{"value", value_of(cell.seconds * nanoseconds)}};
      if (cell.stream && cell.stream->low) {
        latency.push_back({"lower_value", value_of(*cell.stream->low * nanoseconds)});
        latency.push_back({"upper_value", value_of(*cell.stream->high * nanoseconds)});
      }
      FieldRecord measures = {{"latency", std::move(latency)}};
      if (cell.busbw > 0)
        measures.push_back({"bus-bandwidth", FieldRecord{{"value", value_of(cell.busbw)}}});
      const std::string name = benchmark_name(run_, row, placement);
      // One member of the document, without the braces around it.
      const std::string object = json_object({{name, std::move(measures)}});
      all.push_back({"\n" + object.substr(1, object.size() - 2), name});
    });
    return all;
  }
  std::string separator() const override { return ","; }
  std::string tail(const RunSummary* /*summary*/) const override { return "\n}\n"; }

 private:
  RunInfo run_;
};

}  // namespace

std::unique_ptr<Reporter> bencher_reporter(OutputFile file) {
  return document_reporter(std::move(file), std::make_unique<Bencher>());
}

}  // namespace ccl_tests
