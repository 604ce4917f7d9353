// Prometheus' text format (prometheus.io, "Exposition formats") for node_exporter's textfile collector, which reads a file at any time: it is
// written beside and renamed when the run ends, over that of the run before. A run that is killed leaves the old one, whose age the collector
// tells (node_textfile_mtime_seconds).
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/report/exports/document.hpp"
#include "src/report/exports/prometheus.hpp"
#include "src/report/text.hpp"

namespace ccl_tests {
namespace {

constexpr std::string_view last_success = "ccl_tests_last_success_timestamp_seconds";

std::string label(std::string_view name, std::string_view value) {
  std::string text;
  for (const char c : single_line(value)) {
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return fmt::format("{}=\"{}\"", name, text);
}

struct Family {
  std::string_view name, help;
  std::map<std::string, double> samples = {};  // by labels; of those that repeat (cycles) the last
};

// What a run is of: the labels of all its samples.
std::string run_labels(const RunInfo& run) {
  std::string text = label("program", run.program) + "," + label("backend", run.backend) + "," +
                     label("ranks", std::to_string(run.ranks));
  if (!run.mode.empty()) text += "," + label("mode", run.mode);
  return text;
}

std::string cell_labels(const RunInfo& run, const Row& row, std::string_view placement) {
  std::string text = run_labels(run) + "," + label("datatype", name(row.type));
  if (row.op) text += "," + label("op", name(*row.op));
  if (row.root) text += "," + label("root", std::to_string(*row.root));
  if (row.group) text += "," + label("group", std::to_string(*row.group));
  if (row.pair) text += "," + label("pair", name(*row.pair));
  return text + "," + label("size_bytes", std::to_string(row.bytes)) + "," +
         label("placement", placement);
}

std::string reason(int error) { return std::strerror(error); }

class Prometheus : public Reporter {
 public:
  explicit Prometheus(std::string path) : path_(std::move(path)), beside_(path_ + ".new") {
    const auto refuse = [&](const std::string& why) {
      throw UsageError(
          fmt::format("cannot write results to {}: {}", quote(path_, shown_path_characters), why));
    };
    std::error_code error;
    const auto there = std::filesystem::status(path_, error);
    if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
      refuse("Not a regular file");
    const int file = ::open(beside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) refuse(reason(errno));
    ::close(file);
  }
  ~Prometheus() override {
    if (!ended_) ::unlink(beside_.c_str());
  }
  Prometheus(const Prometheus&) = delete;
  Prometheus& operator=(const Prometheus&) = delete;

  std::string path() const override { return path_; }

  void begin(const RunInfo& run) override { run_ = run; }

  void row(const Row& row) override {
    if (row.pass) return;
    for_each_cell(row, [&](std::string_view placement, const Measurement& cell) {
      const std::string labels = cell_labels(run_, row, placement);
      if (cell.wrong) wrong_.samples[labels] = static_cast<double>(*cell.wrong);
      if (cell.wrong.value_or(0) > 0) return;  // no times of wrong data
      time_.samples[labels] = cell.seconds;
      if (cell.stream && cell.stream->low) {
        time_.samples[labels + "," + label("bound", "low")] = *cell.stream->low;
        time_.samples[labels + "," + label("bound", "high")] = *cell.stream->high;
      }
      if (cell.busbw > 0) bandwidth_.samples[labels] = cell.busbw * 1e9;
    });
  }

  void end(const RunSummary& summary) override {
    const std::string run = run_labels(run_);
    Family info{"ccl_tests_run_info", "What was tested, and where."};
    info.samples[fmt::format(
        "{},{},{},{}", run, label("version", run_.version),
        label("library_version", run_.library_version),
        label("host", run_.rank_lines.empty() ? std::string() : run_.rank_lines.front().host))] = 1;
    Family verdict{"ccl_tests_verdict", "1 for what the last run showed, 0 for the others."};
    constexpr std::array<std::pair<Verdict, std::string_view>, 6> states{
        {{Verdict::ok, "ok"},
         {Verdict::unreliable, "unreliable"},
         {Verdict::slow, "slow"},
         {Verdict::varies, "varies"},
         {Verdict::wrong, "wrong"},
         {Verdict::incomplete, "incomplete"}}};
    for (const auto& [state, text] : states)
      verdict.samples[run + "," + label("state", text)] = state == summary.verdict ? 1 : 0;
    Family code{"ccl_tests_exit_code", "Exit code of the last run; 0: passed."};
    code.samples[run] = summary.exit_code;
    Family success{last_success, "When a run passed for the last time."};
    if (summary.exit_code == 0)
      success.samples[run] = std::floor(
          std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
              .count());
    else
      keep_old_success(success);

    std::string text;
    for (const Family* family : {&info, &verdict, &code, &success, &time_, &bandwidth_, &wrong_}) {
      if (family->samples.empty()) continue;
      text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", family->name, family->help);
      for (const auto& [labels, value] : family->samples)
        text += fmt::format("{}{{{}}} {}\n", family->name, labels, value);
    }
    write(text + "# EOF\n");
  }

 private:
  // That of this program in the file that is replaced: a failure does not make a success forgotten.
  void keep_old_success(Family& success) const {
    const std::string begin = fmt::format("{}{{{}}} ", last_success, run_labels(run_));
    std::ifstream old(path_);
    for (std::string line; std::getline(old, line);) {
      if (!line.starts_with(begin)) continue;
      double value = 0;
      if (std::sscanf(line.c_str() + begin.size(), "%lf", &value) == 1 && value > 0)
        success.samples[run_labels(run_)] = value;
    }
  }

  void write(const std::string& text) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(beside_.c_str(), "we"),
                                                               &std::fclose);
    const bool written = file &&
                         std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                         std::fflush(file.get()) == 0 && ::fsync(::fileno(file.get())) == 0;
    if (!written || std::rename(beside_.c_str(), path_.c_str()) != 0)
      throw Error(fmt::format("cannot write results to {}: {}", quote(path_, shown_path_characters),
                              reason(errno)));
    ended_ = true;
  }

  std::string path_, beside_;
  bool ended_ = false;
  RunInfo run_;
  Family time_{"ccl_tests_time_seconds",
               "Time of one operation; with bound, the ends of its interval."};
  Family bandwidth_{"ccl_tests_bus_bandwidth_bytes_per_second",
                    "Bus bandwidth, as nccl-tests defines it."};
  Family wrong_{"ccl_tests_wrong_elements", "Elements with another value than expected."};
};

}  // namespace

std::unique_ptr<Reporter> prometheus_reporter(const std::string& path) {
  return std::make_unique<Prometheus>(path);
}

}  // namespace ccl_tests
