// Prometheus' text format (prometheus.io, "Exposition formats") for node_exporter's textfile collector, which reads a file at any time: it is
// written beside and renamed, over that of the run before. Until the run ends, so if it is killed, it says that the run is incomplete, and
// has no exit code and no times.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "src/core/serialize.hpp"
#include "src/options/program_texts.hpp"
#include "src/record/field_value.hpp"
#include "src/report/exports/document.hpp"
#include "src/report/reporter.hpp"
#include "src/report/text.hpp"

namespace ccl_tests {
namespace {

constexpr std::string_view last_success = "ccl_tests_last_success_timestamp_seconds";

std::string label(std::string_view name, std::string_view value) {
  return fmt::format("{}=\"{}\"", name, escaped(single_line(value), "\\\""));
}

struct Family {
  std::string_view name, help;
  std::map<std::string, double> samples = {};  // by labels; of those that repeat (cycles) the last
};

// Returns the labels of all samples of a run.
std::string run_labels(const RunInfo& run) {
  std::string text = label("program", run.program) + "," + label("backend", run.backend) + "," +
                     label("ranks", std::to_string(run.ranks));
  if (!run.mode.empty()) text += "," + label("mode", run.mode);
  const std::string& given = run.options.output.label;
  if (!given.empty()) text += "," + label("label", given);
  std::vector<std::string> others = distinctions(run);
  std::erase(others, "label:" + given);
  if (!others.empty()) text += "," + label("settings", fmt::format("{}", fmt::join(others, ", ")));
  return text;
}

std::string cell_labels(const RunInfo& run, const Row& row, bool in_place) {
  std::string text = run_labels(run) + "," + label("datatype", name(row.type));
  if (row.op) text += "," + label("op", name(*row.op));
  if (row.root) text += "," + label("root", std::to_string(*row.root));
  if (row.group) text += "," + label("group", std::to_string(*row.group));
  if (row.pair) text += "," + label("pair", name(*row.pair));
  return text + "," + label("size_bytes", std::to_string(row.bytes)) + "," +
         label("placement", in_place ? "in_place" : "out_of_place");
}

class Prometheus : public Reporter {
 public:
  explicit Prometheus(std::string path) : path_(std::move(path)) {
    run_.program = ::program_invocation_short_name;  // until it is known
    replace_file(path_, text(nullptr));
  }

  std::string path() const override { return path_; }
  bool is_written_at_end() const override { return true; }

  void begin(const RunInfo& run) override {
    run_ = run;
    replace_file(path_, text(nullptr));
  }

  void row(const Row& row) override {
    if (row.pass) return;
    for_each_cell(row, [&](bool in_place, const Measurement& cell) {
      const std::string labels = cell_labels(run_, row, in_place);
      const std::string low = labels + "," + label("bound", "low");
      const std::string high = labels + "," + label("bound", "high");
      if (cell.wrong) wrong_.samples[labels] += static_cast<double>(*cell.wrong);  // of all cycles
      for (const std::string& old : {labels, low, high}) time_.samples.erase(old);
      bandwidth_.samples.erase(labels);
      // No times of wrong data, in whichever cycle.
      const auto wrong = wrong_.samples.find(labels);
      if (!is_timed(cell) || (wrong != wrong_.samples.end() && wrong->second > 0)) return;
      time_.samples[labels] = cell.seconds;
      if (cell.stream && cell.stream->low) {
        time_.samples[low] = *cell.stream->low;
        time_.samples[high] = *cell.stream->high;
      }
      if (cell.busbw > 0) bandwidth_.samples[labels] = cell.busbw * 1e9;
    });
  }

  void end(const RunSummary& summary) override { replace_file(path_, text(&summary)); }

 private:
  // summary: null until the run ends.
  std::string text(const RunSummary* summary) const {
    const std::string run = run_labels(run_);
    Family info{"ccl_tests_run_info", "What was tested, and where."};
    info.samples[fmt::format(
        "{},{},{},{}", run, label("version", run_.version),
        label("library_version", run_.library_version),
        label("host", run_.rank_lines.empty() ? std::string() : run_.rank_lines.front().host))] = 1;
    const Verdict is = summary != nullptr ? summary->verdict : Verdict::incomplete;
    Family verdict{"ccl_tests_verdict", "1 for what the last run showed, 0 for the others."};
    for (const Verdict state : {Verdict::ok, Verdict::unreliable, Verdict::slow, Verdict::varies,
                                Verdict::wrong, Verdict::incomplete})
      verdict.samples[run + "," + label("state", value_of(state).get<std::string>())] =
          state == is ? 1 : 0;
    Family code{"ccl_tests_exit_code", "Exit code of the last run; 0: passed."};
    if (summary != nullptr) code.samples[run] = summary->exit_code;
    Family success{last_success, "When a run passed for the last time."};
    success.samples = old_successes();
    if (summary != nullptr && summary->exit_code == 0)
      success.samples[run] = std::floor(
          std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
              .count());

    const Family* const all[] = {&info, &verdict, &code, &success, &time_, &bandwidth_, &wrong_};
    std::string text;
    for (const Family* const family : all) {
      if (family->samples.empty()) continue;
      text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", family->name, family->help);
      for (const auto& [labels, value] : family->samples)
        text += fmt::format("{}{{{}}} {}\n", family->name, labels, value);
    }
    return text + "# EOF\n";
  }

  // Returns the successes in the file that is replaced, by labels: neither a failure nor a run of other ranks makes
  // a success forgotten.
  std::map<std::string, double> old_successes() const {
    const std::string begin = fmt::format("{}{{", last_success);
    std::map<std::string, double> all;
    std::ifstream old(path_);
    for (std::string line; std::getline(old, line);) {
      const std::size_t end = line.rfind("} ");
      if (!line.starts_with(begin) || end == std::string::npos || end < begin.size()) continue;
      if (const double value = parse_number(std::string_view(line).substr(end + 2)); value > 0)
        all[line.substr(begin.size(), end - begin.size())] = value;
    }
    return all;
  }

  std::string path_;
  RunInfo run_;
  Family time_{"ccl_tests_time_seconds",
               "Time of one operation; with bound, the ends of its interval."};
  Family bandwidth_{"ccl_tests_bus_bandwidth_bytes_per_second",
                    "Bus bandwidth, as nccl-tests defines it."};
  Family wrong_{"ccl_tests_wrong_elements", "Elements with another value than expected."};
};

}  // namespace

std::unique_ptr<Reporter> prometheus_reporter(const std::string& path) {
  try {
    return std::make_unique<Prometheus>(path);
  } catch (const Error& e) {
    throw UsageError(e.what());
  }
}

}  // namespace ccl_tests
