// Holds a run's rows to its limits: each by its own interval when it comes, and all of them again
// at the end, when the run knows how far its times repeat.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/judge/limits.hpp"
#include "src/judge/passes.hpp"
#include "src/record/read.hpp"

namespace ccl_tests {

// Earlier runs whose times this one is held to: --baseline.
class Baseline {
 public:
  // Reads a .jsonl file. Of three runs and more it learns how far runs differ. Of fewer it takes
  // the last one, which decides nothing if the times of a run do not repeat. tolerance: the share
  // by which a time may be longer. Throws UsageError if the file has no times or wrong data.
  Baseline(std::string path, double tolerance);

  const std::string& path() const { return path_; }

  // Returns a line that says how many of the runs did not reach their end. Empty: all did.
  std::string note() const;

  // Throws UsageError if `run` measures something else than any of them (check_same_measurement()).
  void check(const RunInfo& run) const;

  // Returns why times of a run cannot be held to the earlier runs': its cores exchange data at
  // another speed than in any of them, or other programs use the CPUs, and did in none of them.
  // Empty: they can, or nothing is known. core_to_core: RunInfo's.
  std::string other_state(std::optional<double> core_to_core, const AfterRows& run) const;

  // Returns the row's time, in or out of place, divided by the earlier one, with its interval and
  // whether it is within the tolerance. nullopt: the row is in no earlier run, or has no time.
  // rule: how this run's time is judged.
  std::optional<LimitFinding> hold(const Row& row, bool in_place, std::size_t requested,
                                   const JudgeRule& rule) const;

 private:
  struct EarlierTime {
    Measurement cell;  // of cycles the one in the middle
    JudgeRule rule;    // of its run
    std::string arithmetic = {};
  };
  static Scatter scatter(const std::vector<EarlierTime>& runs, JudgedBy judged_by);
  // Returns, of three runs and more, their mean and the interval in which another run's time is
  // expected.
  JudgedTime judged(const std::vector<EarlierTime>& runs, JudgedBy judged_by) const;
  // Returns why no row can be too slow, and what to do. Empty: the runs are enough.
  static std::string doubt(const std::vector<EarlierTime>& runs, const JudgeRule& rule);

  std::string path_, shown_;  // shown_: in messages
  double tolerance_;
  std::size_t unfinished_ = 0;  // of runs_
  std::vector<RunInfo> runs_;
  bool crowded_ = false;                               // a run was is_crowded()
  std::vector<double> probes_;                         // core_to_core() before and after these
  std::map<RowKey, std::vector<EarlierTime>> times_;   // of each run that has the row
  std::map<JudgedBy, std::vector<Scatter>> scatters_;  // of the rows
};

// Used by one thread at a time.
class LimitJudge {
 public:
  // endless: the worst times of all cycles are judged, so that memory does not grow.
  explicit LimitJudge(Limits limits, bool endless = false)
      : limits_(std::move(limits)), endless_(endless) {}

  // Returns a note about the baseline; empty: none. Before begin(). Throws as Baseline does.
  std::string read_baseline() {
    return baseline_.emplace(limits_.baseline, limits_.tolerance).note();
  }

  // Throws UsageError if the baseline's run measured something else.
  void begin(const RunInfo& run);

  // Sets the verdicts of the row's own intervals. requested: the size that was asked for.
  void mark(Row& row, std::size_t requested) const;
  void add(const Row& row, std::size_t requested);

  // Returns what became of all limits. Only a complete run is held to what it did not measure.
  std::vector<LimitFinding> judge(const RunSummary& run) const;

 private:
  std::vector<LimitFinding> findings(const Row& row, bool in_place, std::size_t requested,
                                     const JudgeRule& rule) const;

  // Adds what is said of all of the baseline's findings together, or in their place.
  void judge_baseline(std::vector<LimitFinding>& all, const RunSummary& run) const;

  Limits limits_;
  bool endless_;
  std::optional<Baseline> baseline_;
  JudgedBy judged_by_ = JudgedBy::interval;
  double precision_ = 0;                       // that was asked for
  std::optional<double> core_to_core_;         // before the first row
  std::vector<RequestedRow> rows_;             // to be held to limits
  std::map<std::string, std::size_t> places_;  // in rows_, by name: of endless runs
  std::set<std::size_t> measured_;             // requested sizes
};

}  // namespace ccl_tests
