#include "src/report/outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

// Returns a lock, which is not held if another thread holds the mutex all the time. The thread
// sanitizer does not know std::timed_mutex.
std::unique_lock<std::mutex> lock_within(std::chrono::milliseconds patience, std::mutex& mutex) {
  const auto end = std::chrono::steady_clock::now() + patience;
  std::unique_lock lock(mutex, std::try_to_lock);
  while (!lock && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.try_lock();
  }
  return lock;
}

std::string text_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

void Outputs::add(std::unique_ptr<Reporter> reporter) {
  Output& output = reporter->path().empty() ? outputs_.emplace_back() : outputs_.emplace_front();
  output.prepared.path = reporter->end_path();
  if (reporter->file() != nullptr) output.prepared.identity = reporter->file()->identity();
  output.reporter = std::move(reporter);
}

void Outputs::keep_crash_footer(const RunSummary& if_killed) {
  crash_footer_.emplace();
  for (Output& output : outputs_) prepare_end(output, &if_killed);
}

std::vector<std::string> Outputs::files() const {
  std::vector<std::string> paths;
  for (const Output& output : outputs_)
    if (std::string path = output.reporter->path(); !path.empty())
      paths.insert(paths.begin(), std::move(path));
  return paths;
}

void Outputs::begin(const RunInfo& run, const RunSummary& if_killed) {
  for (Output& output : outputs_) {
    const std::lock_guard writing(output.writing);
    output.reporter->begin(run);
    prepare_end(output, &if_killed);
  }
}

void Outputs::row(const Row& row, const RunSummary& if_killed) {
  std::exception_ptr failed;
  for (Output& output : outputs_) try {
      const std::lock_guard writing(output.writing);
      if (output.ended) continue;
      output.reporter->row(row);
      prepare_end(output, &if_killed);
    } catch (const Error&) {
      failed = std::current_exception();
    }
  if (failed) std::rethrow_exception(failed);
}

void Outputs::end(const std::vector<Row>& rest, RunSummary& summary, const RunSummary& if_killed) {
  const int code = summary.exit_code;
  for (Output& output : outputs_) try {
      const std::unique_lock writing(output.writing, std::try_to_lock);
      if (writing) output.reporter->check();
    } catch (const Error& e) {
      fail(e.what(), code, summary);
    }
  for (Output& output : outputs_) {  // whoever is killed in the middle has said the same everywhere
    const std::unique_lock writing(output.writing, std::try_to_lock);
    if (writing) prepare_end(output, &summary);
  }
  for (const bool late : {true, false})  // what cannot be written is then in all others' ends
    for (Output& output : outputs_)
      if (output.reporter->is_written_at_end() == late) end(output, rest, code, summary);
  // A passed run whose process is killed now has not passed: launcher and files say so.
  if (!summary.complete || summary.exit_code != 0) return;
  for (Output& output : outputs_) {
    const std::unique_lock writing(output.writing, std::try_to_lock);
    if (!writing || output.prepared.path.empty()) continue;
    output.prepared.if_killed = true;
    const bool lines = !output.reporter->end_lines(if_killed).empty();
    prepare_end(output, lines ? &if_killed : nullptr, lines ? output.unended_bytes : 0,
                lines ? "" : output.unended);
  }
}

void Outputs::end(Output& output, const std::vector<Row>& rest, int code, RunSummary& summary) {
  constexpr std::chrono::milliseconds patience(300);  // less than mpirun's before it kills
  try {
    const std::unique_lock writing = lock_within(patience, output.writing);
    if (!writing)
      throw Error(
          fmt::format("{} takes no more output: its end is not written",
                      output.reporter->path().empty() ? "stdout" : output.reporter->path()));
    output.ended = true;
    for (const Row& row : rest) output.reporter->row(row);
    // Stdout cannot be cut: a whole end is one write there, and is made once more if nothing says that it was.
    const OutputFile* const file = output.reporter->file();
    output.unended_bytes = file != nullptr ? static_cast<std::int64_t>(file->size()) : -1;
    if (!output.prepared.path.empty() && output.reporter->end_lines(summary).empty())
      output.unended = text_in(output.prepared.path);
    prepare_end(output, &summary, output.unended_bytes);
    output.reporter->end(summary);
    prepare_end(output, nullptr);
  } catch (const std::exception& e) {
    if (output.ended) prepare_end(output, nullptr);
    fail(e.what(), code, summary);
  }
}

void Outputs::fail(const std::string& why, int code, RunSummary& summary) {
  if (std::find(unwritten_.begin(), unwritten_.end(), why) == unwritten_.end())
    unwritten_.push_back(why);
  if (code > 128) return;
  summary.exit_code = most_severe(code, exit_code(Exit::failed));
  if (!summary.complete) return;
  summary.complete = false;
  summary.verdict = Verdict::incomplete;
  summary.failure = why;
  summary.errors = unwritten_;
}

// Called under output.writing, but for keep_crash_footer(), and for an output that takes no more.
void Outputs::prepare_end(Output& output, const RunSummary* summary, std::int64_t size,
                          std::string text) {
  if (!crash_footer_) return;
  if (summary != nullptr) text = output.reporter->end_lines(*summary);
  if (output.reporter->file() == nullptr && !output.prepared.path.empty()) size = 0;  // all of it
  const std::lock_guard lock(leaving_);
  output.prepared.text = std::move(text);
  output.prepared.size = size;
  std::vector<OutputEnd> all;
  for (const Output& each : outputs_) all.push_back(each.prepared);
  crash_footer_->set(all);
}

}  // namespace ccl_tests
