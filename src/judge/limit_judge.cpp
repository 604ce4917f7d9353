#include "src/judge/limit_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/devices/core_to_core.hpp"
#include "src/record/row_text.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t fewest_for_spread = 3;

// Returns the runs that times are held to.
std::vector<RecordedRun> earlier_runs(const std::string& path) {
  std::vector<RecordedRun> runs;
  try {
    runs = read_runs(path);
  } catch (const Error& e) {
    throw UsageError(fmt::format("--baseline: {}; accepted: a .jsonl file of -J", e.what()));
  }
  if (runs.empty())
    throw UsageError(fmt::format("--baseline: {} holds no run; accepted: a .jsonl file of -J",
                                 quote(path, shown_path_characters)));
  if (runs.size() < fewest_for_spread) runs.erase(runs.begin(), runs.end() - 1);
  return runs;
}

bool is_time(const Measurement& cell) { return std::isfinite(cell.seconds) && cell.seconds > 0; }

Measurement middle(std::vector<Measurement> cycles) {
  const auto half = cycles.begin() + static_cast<std::ptrdiff_t>(cycles.size() / 2);
  std::nth_element(cycles.begin(), half, cycles.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return std::move(*half);
}

// Returns the ratio of two times whose intervals are independent.
JudgedTime ratio_of(const JudgedTime& head, const JudgedTime& base) {
  const double value = head.value / base.value;
  const double below =
      std::hypot(std::log(head.value / head.best), std::log(base.worst / base.value));
  const double above =
      std::hypot(std::log(head.worst / head.value), std::log(base.value / base.best));
  return {value, value * std::exp(-below), value * std::exp(above)};
}

void append(std::vector<LimitFinding>& to, std::vector<LimitFinding> some) {
  std::move(some.begin(), some.end(), std::back_inserter(to));
}

void keep_worse(Measurement& kept, const Measurement& other) {
  const auto badness = [](const Measurement& cell) {
    return std::pair(cell.limit.value_or(LimitVerdict::kept), cell.seconds);
  };
  if (badness(other) > badness(kept)) kept = other;
}

}  // namespace

Baseline::Baseline(std::string path, double tolerance)
    : path_(std::move(path)), shown_(quote(path_, shown_path_characters)), tolerance_(tolerance) {
  for (RecordedRun& run : earlier_runs(path_)) {
    if (const std::string wrong = found_wrong(run); !wrong.empty())
      throw UsageError(fmt::format("--baseline: the run in {} found {}", shown_, wrong));
    std::map<RowKey, std::vector<Measurement>> cycles;
    std::map<RowKey, std::string> arithmetic;
    for (const Row& row : run.rows) {
      if (row.pass) continue;
      for (const bool in_place : {false, true}) arithmetic[key_of(row, in_place)] = row.arithmetic;
      if (is_time(row.out_of_place)) cycles[key_of(row, false)].push_back(row.out_of_place);
      if (is_time(row.in_place)) cycles[key_of(row, true)].push_back(row.in_place);
    }
    if (cycles.empty())
      throw UsageError(fmt::format("--baseline: the run in {} has no times", shown_));
    const AfterRows after = run.summary ? *run.summary : AfterRows();
    const JudgeRule rule =
        rule_of(judged_by(run.info), after.repeats, run.info.precision.value_or(0));
    for (auto& [key, times] : cycles)
      times_[key].push_back({middle(std::move(times)), rule, arithmetic[key]});
    for (const auto& probe : {run.info.core_to_core, after.core_to_core})
      if (probe) probes_.push_back(*probe);
    crowded_ = crowded_ || (after.cpu_use && is_crowded(*after.cpu_use));
    if (!run.summary || !run.summary->complete) ++unfinished_;
    runs_.push_back(std::move(run.info));
  }
  for (const JudgedBy by : {JudgedBy::interval, JudgedBy::fast}) {
    std::vector<Scatter> rows;
    for (const auto& [key, runs] : times_) rows.push_back(scatter(runs, by));
    scatters_[by] = std::move(rows);
  }
}

std::string Baseline::note() const {
  if (unfinished_ == 0) return {};
  const std::string who =
      runs_.size() == 1 ? "the run" : fmt::format("{} of {} runs", unfinished_, runs_.size());
  return fmt::format(
      "--baseline: {} in {} did not reach {} end: rows that are missing there are held to nothing",
      who, shown_, runs_.size() == 1 ? "its" : "their");
}

void Baseline::check(const RunInfo& run) const {
  try {
    for (const RunInfo& earlier : runs_)
      check_same_measurement({path_, earlier}, {"this run", run});
  } catch (const UsageError& e) {
    throw UsageError(fmt::format("--baseline: {}", e.what()));
  }
}

std::string Baseline::other_state(std::optional<double> core_to_core, const AfterRows& run) const {
  if (run.cpu_use && is_crowded(*run.cpu_use) && !crowded_)
    return fmt::format("other programs used {:.1f} of {} CPUs, in {} they did not",
                       run.cpu_use->others, run.cpu_use->cpus, shown_);
  if (probes_.empty()) return {};
  const auto [low, high] = std::minmax_element(probes_.begin(), probes_.end());
  for (const std::optional<double>& probe : {core_to_core, run.core_to_core}) {
    if (!probe || same_state(probe, std::clamp(*probe, *low, *high))) continue;
    return fmt::format(
        "the machine is in another state than in {}: a round trip between cores takes {:.0f} ns, and took "
        "{:.0f} to {:.0f} ns there",
        shown_, *probe * 1e9, *low * 1e9, *high * 1e9);
  }
  return {};
}

Scatter Baseline::scatter(const std::vector<EarlierTime>& runs, JudgedBy judged_by) {
  std::vector<double> times;
  for (const EarlierTime& one : runs) times.push_back(judged_time(one.cell, judged_by).value);
  return scatter_of(times);
}

JudgedTime Baseline::judged(const std::vector<EarlierTime>& runs, JudgedBy judged_by) const {
  if (runs.size() < fewest_for_spread) return judged_time(runs.back().cell, judged_by);
  const Scatter found = scatter(runs, judged_by);
  const double half =
      half_width_of_another(found, usual_deviation(scatters_.at(judged_by), found.mean));
  return {std::exp(found.mean), std::exp(found.mean - half), std::exp(found.mean + half)};
}

std::string Baseline::doubt(const std::vector<EarlierTime>& runs, const JudgeRule& rule) {
  if (runs.size() >= fewest_for_spread) return {};
  const auto repeats = [](const JudgeRule& one) {
    return one.judged_by == JudgedBy::interval && one.repeats;
  };
  if (repeats(rule) && std::all_of(runs.begin(), runs.end(),
                                   [&](const EarlierTime& one) { return repeats(one.rule); }))
    return {};
  return "too few earlier runs to tell how far runs differ; keep three or more, or use "
         "ccl_compare --base CMD --head CMD";
}

std::optional<LimitFinding> Baseline::hold(const Row& row, bool in_place, std::size_t requested,
                                           const JudgeRule& rule) const {
  const Measurement& cell = in_place ? row.in_place : row.out_of_place;
  const auto known = times_.find(key_of(row, in_place));
  if (known == times_.end() || !is_time(cell)) return std::nullopt;
  for (const EarlierTime& one : known->second)
    if (!same_arithmetic(one.arithmetic, row.arithmetic)) {
      const std::string where = row_place(row, requested, placement_words(in_place));
      return LimitFinding{
          .verdict = LimitVerdict::undecided,
          .flag = "--baseline",
          .row = where,
          .text = fmt::format("not decided: {}: its arithmetic is the {}'s, and was "
                              "the {}'s in {}; use the same --backend-option "
                              "reduce, or measure a new baseline",
                              where, row.arithmetic, one.arithmetic, shown_)};
    }
  const JudgedTime head = judged_time(cell, rule.judged_by);
  const JudgedTime base = judged(known->second, rule.judged_by);
  const JudgedTime ratio = ratio_of(head, base);
  LimitFinding found = {.flag = "--baseline"};
  found.row = row_place(row, requested, placement_words(in_place));
  found.limit = 1 + tolerance_;
  found.value = ratio.value;
  found.low = ratio.best;
  found.high = ratio.worst;
  found.verdict = judge(ratio, *found.limit);
  if (found.verdict == LimitVerdict::kept) return found;
  const bool above = found.verdict == LimitVerdict::missed;
  const std::string doubtful = doubt(known->second, rule);
  if (!doubtful.empty()) found.verdict = LimitVerdict::undecided;
  const std::size_t runs = known->second.size();
  const std::string whose =
      runs < fewest_for_spread ? "the baseline's" : fmt::format("{} earlier runs'", runs);
  const std::string interval = ratio.best < ratio.worst  // times of -n have none
                                   ? fmt::format(", {:.3f} to {:.3f}", ratio.best, ratio.worst)
                                   : "";
  const char* const what = is_fast(cell, rule.judged_by) ? " (10th percentile)" : "";
  found.text =
      fmt::format("{}: {}: {:.2f} us{} is {:.3f} x {} {:.2f} us{}, {} 1 + --tolerance {:g}%",
                  found.verdict == LimitVerdict::missed ? "too slow" : "not decided", found.row,
                  1e6 * head.value, what, ratio.value, whose, 1e6 * base.value, interval,
                  above ? "above" : "on both sides of", 100 * tolerance_);
  if (!doubtful.empty()) found.text += "; " + doubtful;
  return found;
}

void LimitJudge::begin(const RunInfo& run) {
  judged_by_ = judged_by(run);
  precision_ = run.precision.value_or(0);
  core_to_core_ = run.core_to_core;
  if (baseline_) baseline_->check(run);
}

std::vector<LimitFinding> LimitJudge::findings(const Row& row, bool in_place, std::size_t requested,
                                               const JudgeRule& rule) const {
  if ((in_place ? row.in_place : row.out_of_place).left_out) return {};
  std::vector<LimitFinding> all = held_to(limits_, row, in_place, requested, rule.judged_by);
  if (!baseline_) return all;
  // A time that repeats the one out of place has been judged.
  if (in_place && row.in_place.repeats_out_of_place) return all;
  if (auto found = baseline_->hold(row, in_place, requested, rule))
    all.push_back(std::move(*found));
  return all;
}

void LimitJudge::mark(Row& row, std::size_t requested) const {
  for (const bool in_place : {false, true}) {
    Measurement& cell = in_place ? row.in_place : row.out_of_place;
    for (const LimitFinding& found : findings(row, in_place, requested, {judged_by_}))
      cell.limit = std::max(cell.limit.value_or(LimitVerdict::kept), found.verdict);
  }
}

void LimitJudge::add(const Row& row, std::size_t requested) {
  measured_.insert(requested);
  if (!limits_.of_rows()) return;
  if (endless_) {
    const auto [known, fresh] = places_.try_emplace(row_name(row, requested), rows_.size());
    if (!fresh) {
      Row& kept = rows_[known->second].row;
      keep_worse(kept.out_of_place, row.out_of_place);
      keep_worse(kept.in_place, row.in_place);
      return;
    }
  }
  rows_.push_back({row, requested});
}

void LimitJudge::judge_baseline(std::vector<LimitFinding>& all, const RunSummary& run) const {
  const auto is_of_it = [](const LimitFinding& found) { return found.flag == "--baseline"; };
  const auto compared = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_of_it));
  const auto undecided = [&](const std::string& why) {
    LimitFinding found = {.verdict = LimitVerdict::undecided, .flag = "--baseline"};
    found.text = "not decided: " + why;
    all.push_back(std::move(found));
  };
  std::size_t own = 0;  // times
  for (const RequestedRow& one : rows_)
    for (const Measurement* cell : {&one.row.out_of_place, &one.row.in_place})
      own += cell->has_own_time() ? 1 : 0;
  const std::string other_state = baseline_->other_state(core_to_core_, run);
  if (!other_state.empty()) {  // neither a long time nor a short one says anything
    std::erase_if(all, is_of_it);
    undecided(other_state);
  }
  if (compared < own)
    undecided(fmt::format("{} of {} times are not in {}", own - compared, own, baseline_->path()));
}

std::vector<LimitFinding> LimitJudge::judge(const RunSummary& run) const {
  std::vector<LimitFinding> all;
  const JudgeRule rule = rule_of(judged_by_, run.repeats, precision_);
  for (const auto& [row, requested] : rows_)
    for (const bool in_place : {false, true}) append(all, findings(row, in_place, requested, rule));
  if (auto found = held_to_average(limits_, run.average_busbw)) all.push_back(std::move(*found));
  if (!run.complete) return all;
  if (baseline_) judge_baseline(all, run);
  append(all, unmeasured(limits_, measured_));
  return all;
}

}  // namespace ccl_tests
