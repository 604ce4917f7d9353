// A point of the sweep, and what a rank does for it: buffers, limits, goals, a row without times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/core/capabilities.hpp"
#include "src/core/collective.hpp"
#include "src/measure/stream_criterion.hpp"
#include "src/options/options.hpp"
#include "src/record/record.hpp"
#include "src/run/memory_limit.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests {

// A kind of row: a type, and an operation if the collective reduces.
using Kind = std::pair<DataType, std::optional<ReduceOp>>;

// One row, or one of each group that runs at the same time.
struct SweepPoint {
  DataType type = DataType::float32;
  std::optional<ReduceOp> op;
  int root = 0;
  std::size_t bytes = 0;               // as asked for
  const RankGroups* groups = nullptr;  // that run at the same time: process groups, or pairs
  int cycle = 0;                       // of -N
};

// The parts of a sweep beside the options.
struct SweepRange {
  std::vector<DataType> types;
  std::vector<std::size_t> sizes;  // that fit into memory
  SlotRule slots;                  // of their rows
  std::vector<RankGroups>
      groups;  // run one after the other for each size: process groups, or rounds of pairs
  std::set<Kind> skipped;  // that the library does not have on every rank
};

// Returns the kinds of rows that the options ask for.
std::vector<Kind> kinds_of(const Collective& collective, const Options& options);

// Returns the numbers of the points in the order in which pass `pass` (from 1) of `passes` takes
// them: shuffled by `seed`, the same on all ranks, and in the last pass as they are.
std::vector<std::size_t> order_of_pass(std::size_t points, int pass, int passes,
                                       std::uint64_t seed);
// Returns the first of the smallest and the first of the largest of the points that are of the
// first one's kind, root and groups; none if they have one size. `all` must not be empty.
std::vector<SweepPoint> ends_of(const std::vector<SweepPoint>& all);

// Returns the points of one cycle in their order. They point into `range`.
std::vector<SweepPoint> points(const Collective& collective, const Options& options,
                               const SweepRange& range);

// A point of the sweep as one rank sees it.
struct Problem {
  const Collective* collective;
  SweepPoint point;
  Shape shape;
  Layout layout;
  std::vector<ExpectedBlock> blocks;  // what the receive buffer holds after a call
  RowBytes bytes;
  int peer = -1;  // the other rank of this one's pair

  // False for a rank that is in no pair: it only takes part in barriers.
  bool takes_part() const { return shape.self.group >= 0; }
  std::size_t width() const { return shape.type_bytes; }
  // Returns one call of it, on these buffers.
  Call call(const void* send, void* recv) const;
  // Returns "all_reduce float sum, 8388608 B", with the pair of a paired collective.
  std::string text() const;
};

// Pure. options: outlive the problem.
Problem problem(const Collective& collective, const SweepPoint& point,
                const CollectiveOptions& options, int world_rank);

// Returns the shape of a point as the first rank of group `group` sees it.
Shape shape_of(const SweepPoint& point, const CollectiveOptions& options, int group);

// The limits of the waits of a row, seconds.
struct WaitLimits {
  // One operation, until the watchdog ends the job: a little more than the limit that the
  // library was given, so that the library's own error comes first. 0: none.
  double operation_s = 0;
  // One exchange over the control channel, to which ranks come after calls of unknown length.
  double exchange_s = 0;
  // A block as it is planned, far below exchange_s: calls can become slower while it runs.
  double block_s = 0;
  // Making an operation and its check. 0: none.
  double agreement_s = 0;
};

// Pure. -T 0: practically none.
WaitLimits wait_limits(const Options& options, const Problem& problem);

// Returns which number of a stream is the operation's time. cpus_short: ranks wait for CPUs.
Statistic statistic_of(const Collective& collective, bool cpus_short);
// The same of samples, whose root does not run ahead.
Statistic statistic_of_samples(bool cpus_short);

// Returns the goal of nccl-tests' batch, for blocks of any number of calls. checks: results are
// compared.
BatchGoal batch_goal(const Options& options, bool checks, bool simulated);

// Returns how many calls a block may have: 0 any number, those of a row's slots with -c all
// (checks: results are compared), the fewest of all groups', on which the same number runs.
std::size_t most_calls(const Options& options, const Problem& problem, const SlotRule& slots,
                       bool checks);

// Returns the goal of a stream or of samples, for a clock that costs nothing, the usual budget and
// blocks of any number of calls. cpus_short: ranks wait for CPUs.
PrecisionGoal precision_goal(const Options& options, const Problem& problem, bool checks,
                             bool cpus_short);

// Returns, before it is measured, the row of group `group`. pattern: of its calls; nullptr: nothing
// is verified. numbered: groups have numbers in their rows.
Row unmeasured_row(const Problem& problem, int group, const Capabilities& library,
                   const verify::Pattern* pattern, bool numbered);

}  // namespace ccl_tests
