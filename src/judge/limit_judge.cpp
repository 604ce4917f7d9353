#include "src/judge/limit_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/record/row_text.hpp"

namespace ccl_tests {
namespace {

void append(std::vector<LimitFinding>& to, std::vector<LimitFinding> some) {
  for (LimitFinding& finding : some) to.push_back(std::move(finding));
}

void keep_worse(Measurement& kept, const Measurement& other) {
  const auto badness = [](const Measurement& cell) {
    return std::pair(cell.limit.value_or(LimitVerdict::kept), cell.seconds);
  };
  if (badness(other) > badness(kept)) kept = other;
}

}  // namespace

void LimitJudge::begin(const RunInfo& run) {
  judged_by_ = judged_by(run);
  precision_ = run.precision.value_or(0);
  if (baseline_) baseline_->check(run);
}

std::vector<LimitFinding> LimitJudge::findings(const Row& row, bool in_place, std::size_t requested,
                                               const JudgeRule& rule) const {
  if ((in_place ? row.in_place : row.out_of_place).left_out) return {};
  std::vector<LimitFinding> all = held_to(limits_, row, in_place, requested, rule);
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

// Without those that repeat another one, or were left out.
std::size_t LimitJudge::own_times() const {
  std::size_t times = 0;
  for (const RequestedRow& one : rows_)
    for (const Measurement* cell : {&one.row.out_of_place, &one.row.in_place})
      times += cell->has_own_time() ? 1 : 0;
  return times;
}

void LimitJudge::judge_baseline(std::vector<LimitFinding>& all, const RunNumbers& run) const {
  const auto is_of_it = [](const LimitFinding& found) { return found.flag == "--baseline"; };
  const auto compared = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_of_it));
  const auto undecided = [&](const std::string& why) {
    LimitFinding found = {.verdict = LimitVerdict::undecided, .flag = "--baseline"};
    found.text = "not decided: " + why;
    all.push_back(std::move(found));
  };
  const std::size_t own = own_times();
  const std::string other_state = baseline_->other_state(run.core_to_core);
  if (!other_state.empty()) {  // neither a long time nor a short one says anything
    all.erase(std::remove_if(all.begin(), all.end(), is_of_it), all.end());
    undecided(other_state);
  }
  if (compared < own)
    undecided(fmt::format("{} of {} times are not in {}", own - compared, own, baseline_->path()));
}

std::vector<LimitFinding> LimitJudge::judge(const RunNumbers& run) const {
  std::vector<LimitFinding> all;
  const JudgeRule rule = rule_of(judged_by_, run.repeats, true, precision_);
  for (const auto& [row, requested] : rows_)
    for (const bool in_place : {false, true}) append(all, findings(row, in_place, requested, rule));
  if (auto found = held_to_average(limits_, run.average_busbw)) all.push_back(std::move(*found));
  if (!run.complete) return all;
  if (baseline_) judge_baseline(all, run);
  append(all, unmeasured(limits_, measured_));
  return all;
}

}  // namespace ccl_tests
