// Holds a run's rows to its limits: each by its own interval when it comes, and all of them again at
// the end, when the run knows how far its times repeat.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/judge/baseline.hpp"
#include "src/judge/limits.hpp"
#include "src/judge/passes.hpp"
#include "src/record/record.hpp"

namespace ccl_tests {

// Used by one thread at a time.
class LimitJudge {
 public:
  // endless: of each row of the sweep the worst times of all cycles are judged, so that memory stays as it is.
  explicit LimitJudge(Limits limits, bool endless = false)
      : limits_(std::move(limits)), endless_(endless) {}

  // Before begin(). Throws as Baseline does.
  void read_baseline() { baseline_.emplace(limits_.baseline, limits_.tolerance); }
  // Returns what is to be known of the baseline beside its times; empty: nothing.
  std::string baseline_note() const { return baseline_ ? baseline_->note() : std::string(); }

  // Throws UsageError if the baseline's run measured something else.
  void begin(const RunInfo& run);

  // Sets the verdicts of the row's own intervals. requested: the size that was asked for.
  void mark(Row& row, std::size_t requested) const;
  void add(const Row& row, std::size_t requested);

  // What is known of the whole run.
  struct RunNumbers {
    bool complete = true;                       // otherwise what was not measured is no finding
    std::optional<Repeatability> repeats = {};  // absent: no time was measured again
    double average_busbw = 0;                   // of all rows, GB/s
    Probes core_to_core = {};
  };
  // Returns what became of all limits.
  std::vector<LimitFinding> judge(const RunNumbers& run) const;

 private:
  std::vector<LimitFinding> findings(const Row& row, bool in_place, std::size_t requested,
                                     const JudgeRule& rule) const;

  std::size_t own_times() const;
  // Adds what is said of all of the baseline's findings together, or in their place.
  void judge_baseline(std::vector<LimitFinding>& all, const RunNumbers& run) const;

  Limits limits_;
  bool endless_;
  std::optional<Baseline> baseline_;
  JudgedBy judged_by_ = JudgedBy::interval;
  double precision_ = 0;                       // that was asked for
  std::vector<RequestedRow> rows_;             // to be held to limits
  std::map<std::string, std::size_t> places_;  // in rows_, by name: of endless runs
  std::set<std::size_t> measured_;             // requested sizes
};

}  // namespace ccl_tests
