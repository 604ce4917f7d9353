#include "src/run/multi_reporter.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "src/run/pair_notes.hpp"

namespace ccl_tests {
namespace {

constexpr double min_bw_slack = 0.9;     // nccl-tests fails below 0.9 x NCCL_TESTS_MIN_BW
constexpr std::size_t most_notes = 100;  // a run that is wrong everywhere says so often enough

}  // namespace

std::string local_time() {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", fmt::localtime(std::time(nullptr)));
}

MultiReporter::MultiReporter(const Options& options,
                             std::vector<std::unique_ptr<Reporter>> reporters)
    : options_(options), reporters_(std::move(reporters)) {}

void MultiReporter::begin(const RunInfo& run) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  begun_ = true;
  before_print_();
  for (const RankLine& line : run.rank_lines) hosts_.push_back(line.host);
  for (const auto& reporter : reporters_) reporter->begin(run);
}

void MultiReporter::row(const Row& row, std::size_t requested) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  measured_.insert(requested);
  for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
    busbw_sum_ += cell->busbw;
    ++cells_;
    if (row.group.value_or(0) == 0) {  // rank 0's: one row of each group may follow another
      summary_.calls += cell->calls;
      summary_.verified_calls += cell->verified_calls;
    }
    summary_.failed_checks += cell->failed_ranks;
  }
  if (row.out_of_place.iterations < options_.measure.iterations ||
      row.in_place.iterations < options_.measure.iterations)
    ++capped_rows_;
  if (row.coverage < 1) {
    weakest_bytes_ = std::max(weakest_bytes_, row.bytes);
    weakest_coverage_ = std::min(weakest_coverage_, row.coverage);
  }
  judge_sizes(row, requested);
  if (row.pair && begun_) pair_rows_.push_back(row);
  before_print_();
  for (const auto& reporter : reporters_) reporter->row(row);
}

void MultiReporter::note(const std::string& line) {
  const std::lock_guard lock(mutex_);
  if (summary_.notes.size() < most_notes) summary_.notes.push_back(line);
}

void MultiReporter::memory(const std::string& line) {
  const std::lock_guard lock(mutex_);
  summary_.memory = line;
}

void MultiReporter::judge_sizes(const Row& row, std::size_t requested) {
  const auto miss = [&](std::string line) {
    too_slow_ = true;
    if (summary_.notes.size() < most_notes) summary_.notes.push_back(std::move(line));
  };
  const std::string op = row.pair ? "pair " + name(*row.pair) : row.op;
  const std::pair<const char*, const Measurement*> halves[] = {{"out of place", &row.out_of_place},
                                                               {"in place", &row.in_place}};
  for (const auto& [where, cell] : halves) {
    for (const SizeLimit& limit : options_.limits.min_busbw) {
      if (limit.bytes != requested || cell->busbw >= limit.value) continue;
      miss(fmt::format("too slow: {} B {} {} {}: busbw {:.4f} GB/s is below --min-busbw {}",
                       requested, row.type, op, where, cell->busbw, limit.value));
    }
    for (const SizeLimit& limit : options_.limits.max_time) {
      if (limit.bytes != requested || cell->seconds * 1e6 <= limit.value) continue;
      miss(fmt::format("too slow: {} B {} {} {}: {:.2f} us is above --max-time {}", requested,
                       row.type, op, where, cell->seconds * 1e6, limit.value));
    }
  }
}

void MultiReporter::sum_up_pairs() {
  const auto add = [&](std::vector<std::string> lines) {
    for (std::string& line : lines) summary_.notes.push_back(std::move(line));
  };
  if (options_.spec.window > 1)
    add(message_rates(pair_rows_, options_.sweep.concurrent && !options_.sweep.pairing.all));
  add(slowest_pairs(pair_rows_, hosts_));
}

void MultiReporter::judge_end() {
  sum_up_pairs();
  const auto unmeasured = [&](const std::vector<SizeLimit>& limits, const char* flag) {
    for (const SizeLimit& limit : limits) {
      if (measured_.count(limit.bytes) != 0) continue;
      too_slow_ = true;
      summary_.notes.push_back(
          fmt::format("not measured: {} B, which {} names", limit.bytes, flag));
    }
  };
  unmeasured(options_.limits.min_busbw, "--min-busbw");
  unmeasured(options_.limits.max_time, "--max-time");
  if (options_.limits.min_average_busbw) {
    summary_.bandwidth_ok =
        summary_.average_busbw >= min_bw_slack * *options_.limits.min_average_busbw;
    too_slow_ = too_slow_ || !*summary_.bandwidth_ok;
  }
  if (capped_rows_ > 0) {
    summary_.notes.push_back(fmt::format(
        "{} rows ran fewer than {} iterations, to keep a row's timed part within {} s (--row-time)",
        capped_rows_, options_.measure.iterations, options_.measure.row_time_s));
  }
  if (weakest_bytes_ > 0) {
    summary_.notes.push_back(
        fmt::format("rows up to {} B are too short to show the loss of every rank's contribution; "
                    "the weakest covers {:.1f} % of the ranks",
                    weakest_bytes_, 100 * weakest_coverage_));
  }
}

int MultiReporter::finish(int failure, const std::vector<std::string>& errors) {
  const std::lock_guard lock(mutex_);
  if (finished_) return summary_.exit_code;
  finished_ = true;
  summary_.complete = failure == 0;
  summary_.errors = errors;
  summary_.average_busbw = cells_ > 0 ? busbw_sum_ / static_cast<double>(cells_) : 0;
  if (begun_) judge_end();
  int code = failure;
  if (too_slow_) code = most_severe(code, exit_code(Exit::too_slow));
  if (summary_.failed_checks > 0) code = most_severe(code, exit_code(Exit::wrong_data));
  if (failure > 128) code = failure;  // interrupted: a verdict was not reached
  summary_.exit_code = code;
  summary_.end_time = local_time();
  if (!begun_) return code;
  before_print_();
  for (const auto& reporter : reporters_) {
    try {
      reporter->end(summary_);
    } catch (const std::exception& e) {
      unwritten_.emplace_back(e.what());
      summary_.exit_code = most_severe(code, exit_code(Exit::failed));
    }
  }
  return summary_.exit_code;
}

}  // namespace ccl_tests
