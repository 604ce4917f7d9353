#include "src/report/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/report/comparable.hpp"
#include "src/report/read.hpp"

namespace ccl_tests {
namespace {

RecordedRun last_run(const std::string& path) {
  try {
    std::vector<RecordedRun> runs = read_runs(path);
    if (!runs.empty()) return std::move(runs.back());
  } catch (const Error& e) {
    throw UsageError(fmt::format("--baseline: {}; accepted: a .jsonl file of -J", e.what()));
  }
  throw UsageError(fmt::format("--baseline: {} holds no run; accepted: a .jsonl file of -J",
                               quote(path, shown_path_characters)));
}

bool is_time(const Measurement& cell) { return std::isfinite(cell.seconds) && cell.seconds > 0; }

Measurement middle(std::vector<Measurement> cycles) {
  const auto half = cycles.begin() + static_cast<std::ptrdiff_t>(cycles.size() / 2);
  std::nth_element(cycles.begin(), half, cycles.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return std::move(*half);
}

// Of two times, whose intervals are independent.
JudgedTime ratio_of(const JudgedTime& head, const JudgedTime& base) {
  const double value = head.value / base.value;
  const double below =
      std::hypot(std::log(head.value / head.best), std::log(base.worst / base.value));
  const double above =
      std::hypot(std::log(head.worst / head.value), std::log(base.value / base.best));
  return {value, value * std::exp(-below), value * std::exp(above)};
}

}  // namespace

Baseline::Baseline(std::string path, double tolerance)
    : path_(std::move(path)), tolerance_(tolerance) {
  RecordedRun run = last_run(path_);
  if (run.summary && run.summary->wrong_rows > 0)
    throw UsageError(fmt::format("--baseline: the run in {} found wrong data",
                                 quote(path_, shown_path_characters)));
  std::map<RowKey, std::vector<Measurement>> cycles;
  for (const Row& row : run.rows) {
    if (row.pass) continue;
    if (is_time(row.out_of_place)) cycles[key_of(row, false)].push_back(row.out_of_place);
    if (is_time(row.in_place)) cycles[key_of(row, true)].push_back(row.in_place);
  }
  if (cycles.empty())
    throw UsageError(
        fmt::format("--baseline: the run in {} has no times", quote(path_, shown_path_characters)));
  for (auto& [key, times] : cycles) times_.emplace(key, middle(std::move(times)));
  if (run.summary && run.summary->repeats) moments_ = run.summary->repeats->half_width();
  run_ = std::move(run.info);
}

void Baseline::check(const RunInfo& run) const {
  try {
    check_same_measurement({path_, run_}, {"this run", run});
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("--baseline: {}", e.what()));
  }
}

std::optional<LimitFinding> Baseline::hold(const Row& row, bool in_place, std::size_t requested,
                                           const JudgeRule& rule) const {
  const Measurement& cell = in_place ? row.in_place : row.out_of_place;
  const auto known = times_.find(key_of(row, in_place));
  if (known == times_.end() || !is_time(cell)) return std::nullopt;
  const JudgedTime head = judged_time(cell, rule);
  const JudgedTime base = judged_time(known->second, {rule.judged_by, moments_});
  const JudgedTime ratio = ratio_of(head, base);
  LimitFinding found = {.flag = "--baseline", .row = time_name(row, in_place, requested)};
  found.limit = 1 + tolerance_;
  found.value = ratio.value;
  found.low = ratio.best;
  found.high = ratio.worst;
  found.verdict = judge(ratio, *found.limit);
  if (found.verdict == LimitVerdict::kept) return found;
  const bool missed = found.verdict == LimitVerdict::missed;
  const std::string interval = ratio.best < ratio.worst  // times of -n have none
                                   ? fmt::format(", {:.3f} to {:.3f}", ratio.best, ratio.worst)
                                   : "";
  found.text = fmt::format(
      "{}: {}: {:.2f} us is {:.3f} x the baseline's {:.2f} us{}, {} 1 + --tolerance {:g}%",
      missed ? "too slow" : "not decided", found.row, 1e6 * head.value, ratio.value,
      1e6 * base.value, interval, missed ? "above" : "on both sides of", 100 * tolerance_);
  return found;
}

}  // namespace ccl_tests
