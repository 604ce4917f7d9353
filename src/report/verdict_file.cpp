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
#include "src/report/headline.hpp"
#include "src/report/text.hpp"

namespace ccl_tests {
namespace {

// Returns the summary of a run before its end.
RunSummary unfinished() {
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

// A file that holds the text of a run, written over when the run begins and ends. The run does not fail if it cannot
// be written.
class OptionalFile : public Reporter {
 public:
  using Text = std::string (*)(const RunInfo& run, const RunSummary& summary);
  OptionalFile(std::string path, Text text) : path_(std::move(path)), text_(text) {}
  void begin(const RunInfo& run) override {
    run_ = run;
    write(unfinished());
  }
  void row(const Row& /*row*/) override {}
  void end(const RunSummary& summary) override { write(summary); }

  // Returns why the file cannot be written; empty: it was.
  std::string write(const RunSummary& summary) const {
    return write_over(path_, text_(run_, summary));
  }

 protected:
  const std::string& name() const { return path_; }

 private:
  std::string path_;
  Text text_;
  RunInfo run_;
};

// A file that the user asked for. The run fails if it cannot be written.
class VerdictFile : public OptionalFile {
 public:
  explicit VerdictFile(std::string path) : OptionalFile(std::move(path), verdict_text) {
    if (const std::string error = write(unfinished()); !error.empty())
      throw UsageError(fmt::format("--verdict: cannot write {}: {}; accepted: a writable file",
                                   quote(name(), shown_path_characters), error));
  }
  void check() const override {
    const int file = ::open(name().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file >= 0)
      ::close(file);
    else if (errno != ENXIO)  // of a FIFO that nobody reads now
      fail(std::strerror(errno));
  }
  void end(const RunSummary& summary) override {
    if (const std::string error = write(summary); !error.empty()) fail(error);
  }

 private:
  [[noreturn]] void fail(const std::string& error) const {
    throw Error(fmt::format("cannot write {}: {}", quote(name(), shown_path_characters), error));
  }
};

}  // namespace

std::unique_ptr<Reporter> verdict_reporter(const std::string& path) {
  return std::make_unique<VerdictFile>(path);
}

std::unique_ptr<Reporter> termination_reporter(const std::string& path) {
  auto file = std::make_unique<OptionalFile>(path, termination_text);
  file->begin({});
  return file;
}

bool has_termination_log() {
  struct stat found {};
  return ::stat(termination_log, &found) == 0 && S_ISREG(found.st_mode) &&
         ::access(termination_log, W_OK) == 0;
}

}  // namespace ccl_tests
