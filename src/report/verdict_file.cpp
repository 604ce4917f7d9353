#include "src/report/verdict_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "src/core/quote.hpp"
#include "src/record/field_value.hpp"
#include "src/record/quantity_text.hpp"
#include "src/report/text.hpp"

namespace ccl_tests {
namespace {

std::string first_of(const RunSummary& summary, LimitVerdict verdict) {
  const auto lines = limit_lines(summary.limits, verdict);
  return lines.empty() ? std::string() : lines.front();
}

std::string result(const RunSummary& summary) {
  std::string text =
      counted(summary.rows, "row") + (summary.verified_calls > 0 ? " right" : " not checked");
  if (summary.peak)
    text += fmt::format(", peak {:.3g} GB/s at {}", summary.peak->busbw,
                        binary_size_text(summary.peak->bytes));
  return text;
}

// Returns the summary of a run before its end.
RunSummary unfinished_run() {
  RunSummary summary;
  summary.verdict = Verdict::incomplete;
  summary.complete = false;
  summary.exit_code = exit_code(Exit::failed);
  summary.failure = "the run has not reached its end";
  return summary;
}

std::string verdict_text(const RunInfo& info, const RunSummary& summary) {
  FieldRecord all = {
      {"line", value_of(shortened(single_line(headline(info, summary)), headline_bytes))}};
  FieldRecord run;
  identity_fields(info, Collect(run));
  all.push_back({"run", run});
  fields(summary, Collect(all));
  return json_object(all) + '\n';
}

std::string termination_text(const RunInfo& run, const RunSummary& summary) {
  constexpr std::size_t most = 4096;
  std::string text = single_line(headline(run, summary)) + '\n';
  for (const std::string& error : summary.errors) text += single_line(error) + '\n';
  for (const LimitVerdict verdict : {LimitVerdict::missed, LimitVerdict::undecided})
    for (const std::string& limit : limit_lines(summary.limits, verdict))
      text += single_line(limit) + '\n';
  return text.substr(0, most);
}

// A file that holds the text of a run, written over when the run begins and ends.
class VerdictFile : public Reporter {
 public:
  using Text = std::string (*)(const RunInfo& run, const RunSummary& summary);
  // required: the run fails if the file cannot be written.
  VerdictFile(std::string path, Text text, bool required)
      : path_(std::move(path)), text_(text), required_(required) {}

  void check() const override {
    if (!required_) return;
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file >= 0)
      ::close(file);
    else if (errno != ENXIO)  // of a FIFO that nobody reads now
      fail(std::strerror(errno));
  }
  void begin(const RunInfo& run) override {
    run_ = run;
    write(unfinished_run());
  }
  void row(const Row& /*row*/) override {}
  void end(const RunSummary& summary) override {
    if (const std::string error = write(summary); required_ && !error.empty()) fail(error);
  }
  std::string end_path() const override { return path_; }
  std::string end_lines(const RunSummary& summary) const override { return text_(run_, summary); }
  // Returns why the file cannot be written; empty: it was.
  std::string write(const RunSummary& summary) const {
    return write_over(path_, text_(run_, summary));
  }

 private:
  [[noreturn]] void fail(const std::string& error) const {
    throw Error(fmt::format("cannot write {}: {}", quote(path_, shown_path_characters), error));
  }

  std::string path_;
  Text text_;
  bool required_;
  RunInfo run_;
};

}  // namespace

std::string why_inconclusive(const RunSummary& summary) {
  if (hides_fault(summary)) return std::string(nothing_spoiled);
  return summary.wrong_wire ? summary.wire : std::string();
}

std::string outcome(const RunSummary& summary) {
  switch (summary.verdict) {
    case Verdict::incomplete:
      return summary.first_wrong.empty()
                 ? summary.failure
                 : fmt::format("wrong data: {}; {}", summary.first_wrong, summary.failure);
    case Verdict::wrong: return "wrong data: " + summary.first_wrong;
    case Verdict::varies:
      return "bits vary: " + (summary.reproduction ? summary.reproduction->first_varying : "");
    case Verdict::slow: return first_of(summary, LimitVerdict::missed);
    case Verdict::unreliable: {
      const std::string limit = first_of(summary, LimitVerdict::undecided);
      const std::string why = limit.empty() ? why_inconclusive(summary) : limit;
      return why.empty() ? result(summary) + ", times unreliable" : why;
    }
    case Verdict::ok: break;
  }
  return result(summary);
}

std::string headline(const RunInfo& run, const RunSummary& summary) {
  const std::string what = outcome(summary);
  return run.program.empty() ? what : run.program + ": " + what;
}

std::unique_ptr<Reporter> verdict_reporter(const std::string& path) {
  auto file = std::make_unique<VerdictFile>(path, verdict_text, true);
  if (const std::string error = file->write(unfinished_run()); !error.empty())
    throw UsageError(fmt::format("--verdict: cannot write {}: {}; accepted: a writable file",
                                 quote(path, shown_path_characters), error));
  return file;
}

std::unique_ptr<Reporter> termination_reporter(const std::string& path) {
  auto file = std::make_unique<VerdictFile>(path, termination_text, false);
  file->begin({});
  return file;
}

bool has_termination_log() {
  struct stat found {};
  return ::stat(termination_log, &found) == 0 && S_ISREG(found.st_mode) &&
         ::access(termination_log, W_OK) == 0;
}

}  // namespace ccl_tests
