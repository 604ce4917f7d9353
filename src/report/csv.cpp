// RFC 4180 with \n as line end. Every line carries the settings of its run, so that files of many
// runs can be concatenated; a row of the table is two lines, one for each placement that was measured. An empty field
// is absent, not known or not finite. A run that ends with another exit code than 0 has a last line
// without a placement, which says so.
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "src/record/field_value.hpp"
#include "src/report/reporter.hpp"
#include "src/report/text.hpp"
#include "src/report/verdict_file.hpp"

namespace ccl_tests {
namespace {

std::string csv_quoted(std::string_view text) {
  std::string clean = valid_utf8(text);
  if (clean.find_first_of(",\"\r\n") == std::string::npos) return clean;
  std::string result = "\"";
  for (const char c : clean) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

std::string csv_text(const FieldValue& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return csv_quoted(value.get_ref<const std::string&>());
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const FieldValue& element : value)
    text += (text.empty() ? "" : " ") +
            (element.is_string() ? element.get<std::string>() : csv_text(element));
  return csv_quoted(text);
}

std::string csv_line(const FieldRecord& record, bool names = false) {
  std::string line;
  for (const auto& [name, value] : record.items())
    if (!only_in_json_lines(name)) line += (names ? name : csv_text(value)) + ",";
  line.back() = '\n';
  return line;
}

class Csv : public Reporter {
 public:
  explicit Csv(OutputFile file) : file_(std::move(file)) {}

  const OutputFile* file() const override { return &file_; }

  void begin(const RunInfo& run) override {
    identity_fields(run, Collect(run_));
    setting_fields(run, Collect(run_));
    empty_ = record(Row(), "", Measurement());
    file_.append(csv_line(empty_, true));
    for (const auto& [name, value] : empty_.items())
      if (!run_.contains(name)) value = nullptr;
  }

  void row(const Row& row) override {
    const auto half = [&](const char* placement, const Measurement& cell) {
      return cell.left_out ? std::string() : csv_line(record(row, placement, cell));
    };
    file_.append(half("out_of_place", row.out_of_place) + half("in_place", row.in_place));
  }

  void end(const RunSummary& summary) override {
    file_.append(end_lines(summary));
    file_.close();
  }

  std::string end_lines(const RunSummary& summary) const override {
    if (summary.exit_code == 0 || empty_.empty()) return {};
    FieldRecord last = empty_;
    last["exit_code"] = value_of(summary.exit_code);
    last["error"] = value_of(outcome(summary));
    return csv_line(last);
  }

 private:
  FieldRecord record(const Row& row, const std::string& placement, const Measurement& cell) const {
    FieldRecord all = run_;
    fields(row, Collect(all));
    all["placement"] = value_of(placement);
    fields(cell, Collect(all));
    all["exit_code"] = nullptr;
    all["error"] = nullptr;
    return all;
  }

  OutputFile file_;
  FieldRecord run_;    // the beginning of every line
  FieldRecord empty_;  // a line without a row
};

}  // namespace

std::unique_ptr<Reporter> csv_reporter(OutputFile file) {
  return std::make_unique<Csv>(std::move(file));
}

}  // namespace ccl_tests
