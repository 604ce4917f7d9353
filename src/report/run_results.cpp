#include "src/report/run_results.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "src/core/error.hpp"
#include "src/report/verdict_file.hpp"

namespace ccl_tests {

void RunResults::read_earlier_runs() {
  if (!digests_path_.empty()) digests_ = DigestFile(digests_path_);
  judge_.read_baseline();
}

RunSummary RunResults::if_killed() const {
  RunSummary summary = judge_.if_killed(how_process_0_ended);
  if (summary.exit_code == exit_code(Exit::failed)) summary.exit_code = exit_code_of_the_end;
  return summary;
}

void RunResults::begin(const RunInfo& run) {
  std::unique_lock lock(mutex_);
  if (ended_) return;
  before_print_();
  RunInfo complete = run;
  complete.output_files = outputs_.files();
  judge_.begin(complete);
  const RunSummary last = if_killed();
  lock.unlock();
  outputs_.begin(complete, last);
}

void RunResults::row(const Row& row, std::size_t requested, RowPlace place) {
  std::unique_lock lock(mutex_);
  if (ended_) return;
  std::exception_ptr failed;
  Row complete = row;
  judge_.complete(complete);
  try {
    if (judge_.run()) compare_digests(digests_, *judge_.run(), complete);
  } catch (const Error&) {  // costs nobody the row
    failed = std::current_exception();
  }
  const std::vector<Row> rows = judge_.add(complete, requested, place);
  if (!rows.back().pass) before_print_();
  const RunSummary last = if_killed();
  lock.unlock();
  for (const Row& one : rows) try {
      outputs_.row(one, last);
    } catch (const Error&) {
      failed = std::current_exception();
    }
  if (failed) std::rethrow_exception(failed);
}

void RunResults::first_call(const Row& row, std::size_t requested) {
  const std::lock_guard lock(mutex_);
  if (!ended_) judge_.add_first_call(row, requested);
}

void RunResults::after_rows(const AfterRows& found) {
  const std::lock_guard lock(mutex_);
  judge_.set(found);
}

RunSummary RunResults::so_far() const {
  const std::lock_guard lock(mutex_);
  return judge_.so_far();
}

int RunResults::verdict() {
  const std::lock_guard lock(mutex_);
  return judge_.verdict();
}

int RunResults::finish(int failure, const std::vector<std::string>& errors,
                       const std::string& activity) {
  const std::lock_guard lock(mutex_);
  if (ended_) return ended_->exit_code;
  const std::vector<Row> rest = judge_.add_rest();
  try {
    if (failure == 0) digests_.check();
  } catch (const Error& e) {
    lost_digests_ = e.what();
  }
  ended_ = lost_digests_.empty()
               ? judge_.conclude(failure, errors, activity)
               : judge_.conclude(exit_code(Exit::failed), {lost_digests_}, activity);
  before_print_();
  outputs_.end(rest, *ended_, if_killed());
  return ended_->exit_code;
}

std::vector<std::string> RunResults::unwritten() const {
  std::vector<std::string> lines = outputs_.unwritten();
  if (!lost_digests_.empty()) lines.insert(lines.begin(), lost_digests_);
  return lines;
}

std::vector<std::string> RunResults::reasons() const {
  const std::lock_guard lock(mutex_);
  if (!ended_) return {};
  auto lines = limit_lines(ended_->limits, LimitVerdict::missed);
  for (auto& line : limit_lines(ended_->limits, LimitVerdict::undecided))
    lines.push_back(std::move(line));
  if (std::string why = why_inconclusive(*ended_); !why.empty()) lines.push_back(std::move(why));
  return lines;
}

namespace {

std::unique_ptr<Reporter> open_file(const std::string& path) {
  try {
    return file_reporter(path);
  } catch (const UsageError& e) {
    throw UsageError(
        fmt::format("-J: {}; accepted: a writable {} file", e.what(), accepted_suffixes));
  }
}

}  // namespace

void open_files(RunResults& results, const Options& options,
                const std::function<void(const std::string& line)>& log) {
  const OutputOptions& o = options.output;
  for (const std::string& file : o.files) {
    std::unique_ptr<Reporter> reporter = open_file(file);
    const std::string opened = reporter->path();
    if (opened != file) log(fmt::format("-J: {} exists; writing {}", file, opened));
    results.add(std::move(reporter));
  }
  for (const std::string& file : {o.verdict, o.monitor_verdict})
    if (!file.empty()) results.add(verdict_reporter(file));
  if (has_termination_log()) results.add(termination_reporter(termination_log));
  results.add(table_reporter(stdout));
}

void mark_unfinished(const OutputOptions& options) {
  for (const std::string& file : options.files)
    if (replaces_file(file)) open_file(file);
  if (!options.verdict.empty()) verdict_reporter(options.verdict);
}

}  // namespace ccl_tests
