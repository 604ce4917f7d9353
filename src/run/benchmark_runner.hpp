// Rows on demand: the library behind every program.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "src/job/rank.hpp"
#include "src/measure/beside.hpp"
#include "src/measure/clocks.hpp"
#include "src/run/row.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests {

class Communicator;

// One rank's end of all measurements of a job. Used by the rank's thread. Every function is
// collective over all ranks and throws what the library, a peer or a limit throws.
class BenchmarkRunner {
 public:
  // Connects all ranks, and the ranks of each group; those that are in none rest. patterns: shared
  // by the ranks of a process. All must outlive it.
  BenchmarkRunner(Rank& rank, const Options& options, const RankGroups& groups,
                  verify::PatternCache& patterns);
  ~BenchmarkRunner();  // waits for nobody
  BenchmarkRunner(const BenchmarkRunner&) = delete;
  BenchmarkRunner& operator=(const BenchmarkRunner&) = delete;

  // Returns the communicator of this rank's group.
  Communicator& communicator() const { return group_ ? *communicator_ : world_; }
  const ClockProperties& clock() const { return clock_; }  // that this rank reads
  // Returns true if rows are streams or samples, false if they are nccl-tests' batches.
  bool has_intervals() const;

  // Makes room for all points of these sizes and types, and lets a GPU raise its clocks.
  void reserve(const Collective& collective, const SweepRange& range);
  // Sets how long the timed calls of a time may take. On rank 0.
  void set_budget(double seconds) { budget_s_ = seconds; }
  // Makes one untimed call of a point before the first row: a library's first calls connect,
  // allocate and choose algorithms, and so have the limit of the start (--init-timeout) if it is
  // longer. Returns on rank 0, under -c all, rows without times that hold what checking the call
  // found.
  PointRows warm_up(const Collective& collective, const SweepPoint& point);
  // Returns the rows of a point that room was made for: of each group, or the slowest group's.
  // verified: with what repeating the reduction shows, too. Otherwise times alone.
  PointRows run(const Collective& collective, const SweepPoint& point, bool verified = true);
  // Returns the rows of a point as run() does, from unverified calls that take budget_s for a time.
  // A few calls are enough if they take longer than ten times that.
  PointRows glance(const Collective& collective, const SweepPoint& point, double budget_s);
  // Returns on rank 0 the time of each group of a point, of the first placement that is measured,
  // from unverified calls; elsewhere nothing.
  std::vector<Measurement> times(const Collective& collective, const SweepPoint& point);
  // Makes calls of a point, out of place and one after the other, while others are measured. Returns
  // when go_on() says false, which it must do after the same number of calls on all ranks; it may
  // wait. Under -c all each call is verified, otherwise those that are made before the first and
  // what the last ones left. Returns on rank 0 rows without times that hold what verification found.
  PointRows repeat(const Collective& collective, const SweepPoint& point,
                   const std::function<bool()>& go_on);
  // Closes the communicators when all ranks have done with them.
  void close();

 private:
  ControlChannel& group_channel() { return group_ ? *group_ : rank_.world(); }
  void use_pattern(const Problem& p);
  bool verifiable(const Problem& p) const;
  std::vector<Form> forms_of(const Problem& p) const;  // that run() measures
  std::unique_ptr<Operation> operation_of(const Problem& p, const WaitLimits& limits);
  std::unique_ptr<StoppingCriterion> criterion(const Problem& p, bool checks) const;
  CallPlan call_plan(const Problem& p, Form form, bool verifies, const WaitLimits& limits,
                     Timeline* timeline, const Clock& clock);
  FormFindings run_form(const Problem& p, Form form, Operation& operation, bool checks,
                        const WaitLimits& limits);
  RankReport take_form(const Problem& p, Form form, Operation& operation, bool checks,
                       StoppingCriterion& criterion, const WaitLimits& limits);
  // Returns on rank 0 the rows of calls that were checked and not timed. where: of wrong ones.
  PointRows checked_rows(const Problem& p, const RankReport& mine, const WaitLimits& limits,
                         std::string_view where);
  std::vector<Row> unmeasured_rows(const Problem& p) const;
  void add_reproductions(PointRows& result, const Problem& p, Operation& operation,
                         const WaitLimits& limits);
  void add_beside(PointRows& result, const Problem& p, Form form, Operation& operation,
                  const WaitLimits& limits);
  RowContext row_context(const Problem& p) const;

  Rank& rank_;
  const Options& options_;
  verify::PatternCache& patterns_;
  Communicator& world_;
  std::unique_ptr<ControlChannel> group_;  // null: all ranks are one group in their own order
  Communicator* communicator_ = nullptr;   // of the group
  std::unique_ptr<verify::Loops> loops_;   // null: closed
  ClockProperties clock_;
  bool cpus_short_;                             // ranks wait for CPUs
  double budget_s_ = PrecisionGoal().budget_s;  // of a time
  double most_s_ = 0;                           // of a time in few long calls; 0: by --row-time
  SlotRule slot_rule_;                          // of the rows that memory was reserved for
  std::optional<Arena> arena_;
  std::optional<EventCounters> counters_;  // nullopt: simulated ranks have no process of their own
  std::unique_ptr<verify::Verifier> verifier_;  // of the point that is measured
  std::shared_ptr<Load> load_;                  // of --beside; null: none
};

}  // namespace ccl_tests
