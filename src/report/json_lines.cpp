// One JSON object a line: the run ("type":"header"), two lines for each row of the table ("row": one
// for each placement that was measured), and the end ("footer"). A row is flat. What the header and the footer hold
// lies in one object of theirs, so that a table made of all lines has two columns more.
#include <utility>

#include "src/record/field_value.hpp"
#include "src/report/reporter.hpp"

namespace ccl_tests {
namespace {

constexpr int schema_version = 2;

FieldRecord line(const char* type) { return {{"type", type}}; }

class JsonLines : public Reporter {
 public:
  explicit JsonLines(OutputFile file) : file_(std::move(file)) {}

  const OutputFile* file() const override { return &file_; }

  void begin(const RunInfo& run) override {
    FieldRecord header = line("header");
    header["schema_version"] = schema_version;
    header["run_id"] = value_of(run.run_id);
    fields(run, Collect(header["header"]));
    run_id_ = run.run_id;
    run_ = line("row");
    identity_fields(run, Collect(run_));
    file_.append(json_object(header) + "\n");
  }

  void row(const Row& row) override {
    FieldRecord common = run_;
    common["row"] = rows_;
    fields(row, Collect(common));
    const auto half = [&](const char* placement, const Measurement& cell) {
      if (cell.left_out) return std::string();
      FieldRecord all = common;
      all["placement"] = placement;
      fields(cell, Collect(all));
      return json_object(all) + "\n";
    };
    file_.append(half("out_of_place", row.out_of_place) + half("in_place", row.in_place));
    ++rows_;
  }

  void end(const RunSummary& summary) override {
    file_.append(end_lines(summary));
    file_.close();
  }

  std::string end_lines(const RunSummary& summary) const override {
    FieldRecord footer = line("footer");
    footer["run_id"] = value_of(run_id_);
    fields(summary, Collect(footer["footer"]));
    return json_object(footer) + "\n";
  }

 private:
  OutputFile file_;
  std::string run_id_;
  FieldRecord run_;  // the beginning of every row
  std::size_t rows_ = 0;
};

}  // namespace

std::unique_ptr<Reporter> json_lines_reporter(OutputFile file) {
  return std::make_unique<JsonLines>(std::move(file));
}

}  // namespace ccl_tests
