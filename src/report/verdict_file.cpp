#include "src/report/verdict_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/core/write_all.hpp"
#include "src/record/field_value.hpp"
#include "src/record/field_visitors.hpp"
#include "src/report/headline.hpp"
#include "src/report/text.hpp"

namespace ccl_tests {
namespace {

// In place: the file may be a mount. Returns what went wrong; empty: nothing.
std::string write_over(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return std::strerror(errno);
  int error = write_all(file, text);
  if (::close(file) != 0 && error == 0) error = errno;
  return error == 0 ? "" : std::strerror(error);
}

// Of a run before its end.
RunSummary unfinished() {
  RunSummary summary;
  summary.verdict = Verdict::incomplete;
  summary.complete = false;
  summary.exit_code = exit_code(Exit::failed);
  summary.failure = "the run has not reached its end";
  return summary;
}

class VerdictFile : public Reporter {
 public:
  explicit VerdictFile(std::string path) : path_(std::move(path)) {
    if (const std::string error = write(unfinished()); !error.empty())
      throw UsageError(fmt::format("--verdict: cannot write {}: {}; accepted: a writable file",
                                   quote(path_, shown_path_characters), error));
  }
  void begin(const RunInfo& run) override {
    run_ = run;
    write(unfinished());
  }
  void row(const Row& /*row*/) override {}
  void check() const override {
    const int file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
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
    throw Error(fmt::format("cannot write {}: {}", quote(path_, shown_path_characters), error));
  }

  std::string write(const RunSummary& summary) const {
    FieldRecord all = {
        {"line", value_of(shortened(single_line(headline(run_, summary)), headline_bytes))}};
    FieldRecord run;
    identity_fields(run_, Collect(run));
    all.push_back({"run", run});
    fields(summary, Collect(all));
    return write_over(path_, json_object(all) + '\n');
  }

  std::string path_;
  RunInfo run_;
};

class TerminationLog : public Reporter {
 public:
  explicit TerminationLog(std::string path) : path_(std::move(path)) { end(unfinished()); }
  void begin(const RunInfo& run) override {
    run_ = run;
    end(unfinished());
  }
  void row(const Row& /*row*/) override {}
  void end(const RunSummary& summary) final {
    constexpr std::size_t most = 4096;
    std::string text = single_line(headline(run_, summary)) + '\n';
    for (const std::string& error : summary.errors) text += single_line(error) + '\n';
    for (const LimitVerdict verdict : {LimitVerdict::missed, LimitVerdict::undecided})
      for (const std::string& limit : limit_lines(summary.limits, verdict))
        text += single_line(limit) + '\n';
    write_over(path_, text.substr(0, most));
  }

 private:
  std::string path_;
  RunInfo run_;
};

}  // namespace

std::unique_ptr<Reporter> verdict_reporter(const std::string& path) {
  return std::make_unique<VerdictFile>(path);
}

std::unique_ptr<Reporter> termination_reporter(const std::string& path) {
  return std::make_unique<TerminationLog>(path);
}

bool has_termination_log() {
  struct stat found {};
  return ::stat(termination_log, &found) == 0 && S_ISREG(found.st_mode) &&
         ::access(termination_log, W_OK) == 0;
}

}  // namespace ccl_tests
