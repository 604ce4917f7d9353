// Rows out of what all ranks have found. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/job/rank_table.hpp"
#include "src/measure/estimate.hpp"
#include "src/measure/statistics.hpp"
#include "src/record/record.hpp"
#include "src/run/point.hpp"
#include "src/run/rank_report.hpp"

namespace ccl_tests {

// What -I shows of a row: its single iterations, out of what each of its ranks has timed. Pure.
struct RankIntervals {
  std::uint64_t process = 0;          // that the rank is in
  std::span<const double> intervals;  // seconds of each timed iteration
};

// Returns the times of one operation of each iteration, and their statistics.
// operations: that an iteration is made of, one after the other.
// skip: first iterations that the statistics leave out; the last iteration always counts.
IterationTimes iteration_times(const std::vector<RankIntervals>& ranks, double operations,
                               int skip);

// What all ranks of the job have found in one form of a row, by rank.
struct FormFindings {
  std::vector<Samples> samples;  // of the timed block; empty: nothing was timed
  std::vector<RankReport> reports;
  std::size_t iterations = 0;
  std::size_t calls = 0;                // that the samples of a rank stand for
  std::size_t calls_per_stamp = 0;      // of a stream, whose samples are stamps; 0: of a batch
  std::size_t discarded_blocks = 0;     // the first ones, which no sample is of
  bool checked = false;                 // results were compared
  bool single_samples = false;          // --samples: each sample began behind a barrier
  std::optional<double> clock_error_s;  // of moments of different ranks; nullopt: not comparable
  double spent_s = 0;                   // on timed calls, as far as a budget limits them
};

// How times of ranks become one.
struct RowRule {
  MeasureOptions options;
  bool raw = false;  // keep every stamp
  int ranks_per_process = 1;
  double clock_cost_s = 0;  // of one reading
  bool cpus_short = false;  // ranks wait for CPUs: times are fast ones

  Average average() const { return static_cast<Average>(options.average); }
};

// Returns what was wrong on the ranks of group `group`. numbered: groups have numbers, pairs have not.
std::vector<Mismatch> mismatches_of(const RankGroups& groups, int group, const FormFindings& found,
                                    const RankTable& table, bool numbered);

// Returns which number of a stream is the operation's time. cpus_short: ranks wait for CPUs.
Statistic statistic_of(const Collective& collective, bool cpus_short);
// The same of samples, whose root does not run ahead.
Statistic statistic_of_samples(bool cpus_short);

// Returns the measurement of group `group`.
Measurement measurement_of(const SweepPoint& point, const Collective& collective,
                           const CollectiveOptions& options, int group, const FormFindings& found,
                           const RowRule& rule);

// Sets how near each cell's time is to the lower bound of a call that takes so many rounds.
void add_efficiency(Row& row, const Ceiling& ceiling, int rounds);

// Returns one row for all groups: the slowest one's, which holds up a training step, and what is
// wrong in any.
Row slowest(const std::vector<Row>& rows);

}  // namespace ccl_tests
