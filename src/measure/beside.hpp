// An operation and a load that run at the same time, each against itself alone (--beside).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "src/core/clock.hpp"
#include "src/measure/statistics.hpp"
#include "src/measure/workload.hpp"

namespace ccl_tests {

// Work on a thread of its own, beside a rank's operations. Used by the rank's thread.
class Load {
 public:
  virtual ~Load() = default;
  // Lets the load work. Returns when a first piece of the work is done. Throws what the work threw.
  virtual void resume() = 0;
  // Lets the load stop. Returns when it has stopped. Throws what the work threw.
  virtual void pause() = 0;
  // Returns the work done since resume() at a moment of Clock::now(). The load has stopped, and the
  // moment was between resume() and pause().
  virtual double done_at(double seconds) const = 0;
};

// Returns how many of the pieces of work were done at `at`, with the share of the piece that was
// under way. stamps: ascending moments at which a piece was done, the first one's begin in front.
double pieces_at(std::span<const double> stamps, double at);

// The lengths of the blocks of a round. The same on all ranks.
struct BesidePlan {
  std::size_t alone_calls = 1;  // of a block of the operation alone
  std::size_t both_calls = 1;   // of a block beside the load
  double load_s = 0;            // of a block of the load alone
  std::size_t rounds = 0;
};

// Returns the plan of operations that take so many seconds each, alone and beside the load.
// Blocks last about 20 ms, or one call. budget_s: seconds of all rounds. It gives 5 rounds for
// each second, fewer if a round takes longer, but always 6: an interval needs them. 0: 20
// rounds, without a limit. most_calls: of a block; 0: without a limit.
BesidePlan plan_beside(double alone_s, double both_s, std::size_t most_calls, double budget_s);

// Returns how many calls of call_s seconds a block of about 20 ms has: at least 1, at most
// most_calls; 0: any number.
std::size_t calls_of_block(double call_s, std::size_t most_calls);

// One rank's numbers of a round.
struct BesideRound {
  double alone_s = 0, both_s = 0;        // seconds of a call
  double load_alone = 0, load_both = 0;  // work of the load in a second
};

// Takes a block of calls beside the load, and sets the work of a second while they ran. Returns the
// seconds of a call. Collective. Throws what the workload, the barrier and the load throw.
double take_both(std::size_t calls, Workload& workload, Barrier& barrier, const Clock& clock,
                 Load& load, double& work_per_s);

// Takes the blocks of a round in the order load, operation, both, both, operation, load: what
// changes evenly meanwhile changes no ratio. Collective. Throws as take_both().
BesideRound take_round(const BesidePlan& plan, Workload& workload, Barrier& barrier, Clock& clock,
                       Load& load);

// A ratio and the interval that covers it with 95 % confidence; absent of less than 6 rounds.
struct Ratio {
  double value = 0;
  std::optional<double> low = {}, high = {};
};

// What the rounds of a group of ranks show.
struct BesideRatios {
  Ratio time;              // of a call beside the load, over that alone
  Ratio work;              // of the load beside calls, over that alone
  double work_per_s = 0;   // of all loads of the group, alone
  std::size_t rounds = 0;  // that count
};

// Returns the medians over rounds of each round's ratios. The ranks' times become one by `average`,
// their work is added. Rounds without a time or without work do not count. ranks: the rounds of each
// rank of the job, equally many. Pure.
BesideRatios beside_ratios(const std::vector<std::vector<BesideRound>>& ranks,
                           std::span<const int> group, Average how);

}  // namespace ccl_tests
